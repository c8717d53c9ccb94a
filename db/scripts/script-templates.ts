// The platform's own scripts, which everyone can run. They are part of the source (db/seed/templates) and are written
// to the database at every start, so that they match this version.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Framework } from '../../domain/jobs/framework.js'
import type { ScriptMetadata, ScriptType } from '../../domain/scripts/script.js'
import type { TemplateParameter } from '../../domain/scripts/template-parameter.js'
import type { DbOrTx } from '../client.js'
import { newId } from '../ids.js'
import { scripts } from '../tables/scripts.js'
import { storeVersion } from './script-changes.js'
import type { ScriptRow } from './scripts.js'

/** A line of the manifest; `<slug>.py` is in the same folder. */
interface ManifestLine {
  slug: string
  name: string
  description: string
  script_type: ScriptType
  category: string
  framework: Framework
  parameters: TemplateParameter[]
}

export interface Template {
  slug: string
  name: string
  description: string
  scriptType: ScriptType
  category: string
  framework: Framework
  content: string
  metadata: ScriptMetadata
}

/**
 * Updates the platform's templates: changed content becomes a new version of the same script, and a template that no
 * longer exists is deleted. The caller prevents concurrent calls.
 */
export async function seedTemplates(db: DbOrTx, templates: Template[]): Promise<void> {
  const present = new Map(
    (
      await db
        .select()
        .from(scripts)
        .where(and(isNull(scripts.teamId), eq(scripts.isHardcoded, true)))
    ).map((row) => [row.slug, row])
  )
  for (const template of templates) {
    const { source_sha256: sourceSha256 } = template.metadata
    const row = present.get(template.slug)
    present.delete(template.slug)
    const values = { ...template, sourceSha256, isPublic: true, isHardcoded: true, isActive: true }
    if (!row) {
      const [made] = await db
        .insert(scripts)
        .values({ id: newId(), ...values, publishedAt: sql`now()` })
        .returning({ id: scripts.id })
      await storeVersion(db, made!.id, null)
      continue
    }
    if (isSame(row, template)) continue
    const runsOtherwise = row.content !== template.content || row.framework !== template.framework
    await db
      .update(scripts)
      .set({ ...values, version: row.version + (runsOtherwise ? 1 : 0), updatedAt: sql`now()` })
      .where(eq(scripts.id, row.id))
    if (runsOtherwise) await storeVersion(db, row.id, null)
  }
  for (const { id, isActive } of present.values())
    if (isActive) await db.update(scripts).set({ isActive: false, updatedAt: sql`now()` }).where(eq(scripts.id, id))
}

const isSame = (row: ScriptRow, { metadata, ...template }: Template): boolean =>
  row.isActive &&
  // Postgres reorders the keys of stored JSON.
  JSON.stringify(sorted(row.metadata)) === JSON.stringify(sorted(metadata)) &&
  Object.entries(template).every(([name, value]) => row[name as keyof ScriptRow] === value)

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([key, inner]) => [key, sorted(inner)])
        )
      : value

/**
 * Reads the templates in a folder; none when it has no manifest. Their metadata is in metadata.json, which
 * tools/template-metadata.mjs writes. For a source that has changed since, only its digest is known.
 */
export function readTemplates(folder: string): Template[] {
  const manifest = join(folder, 'manifest.json')
  if (!existsSync(manifest)) return []
  const known = join(folder, 'metadata.json')
  const read = existsSync(known) ? (JSON.parse(readFileSync(known, 'utf8')) as Record<string, ScriptMetadata>) : {}
  return (JSON.parse(readFileSync(manifest, 'utf8')) as ManifestLine[]).map(({ script_type, ...line }) => {
    const content = readFileSync(join(folder, `${line.slug}.py`), 'utf8')
    const digest = createHash('sha256').update(content).digest('hex')
    const metadata = read[line.slug]
    return {
      slug: line.slug,
      name: line.name,
      description: line.description,
      scriptType: script_type,
      category: line.category,
      framework: line.framework,
      content,
      metadata: {
        ...(metadata?.source_sha256 === digest ? metadata : unread(line.framework, digest)),
        parameters: line.parameters
      }
    }
  })
}

const unread = (framework: Framework, digest: string): ScriptMetadata => ({
  framework,
  imports: [],
  functions: [],
  entry_point: null,
  source_sha256: digest
})
