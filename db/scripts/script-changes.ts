// Creates, changes, publishes and deletes saved scripts. The caller has locked the team (`lockTeamForWrite`). The row
// of a script is locked here, so that concurrent changes run one after the other and each becomes a version.
import { and, count, eq, isNull, or, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Framework } from '../../domain/jobs/framework.js'
import {
  SCRIPTS_MAX,
  type ScriptMetadata,
  type ScriptType,
  SLUG_MAX,
  slugChoices,
  slugOf,
  VERSIONS_MAX
} from '../../domain/scripts/script.js'
import type { DbOrTx, Tx } from '../client.js'
import { newId } from '../ids.js'
import { jobs } from '../tables/jobs.js'
import { scripts, scriptVersions } from '../tables/scripts.js'
import { assertStorageLeft } from '../teams/team-storage.js'
import { headColumns, type ScriptHead } from './scripts.js'

/** How many slugs are tried for one name, after those that are known to be taken. */
const SLUG_TRIES = 50
/** The common beginning of all slugs for one name. */
const SLUG_PREFIX = SLUG_MAX - 10

export interface NewScript {
  teamId: string
  userId: string
  name: string
  description: string
  scriptType: ScriptType
  category: string
  framework: Framework
  content: string
  requirements: string | null
  metadata: ScriptMetadata
}

/**
 * Saves a script under the given slug, or under the first free one for its name.
 * @throws ServiceError `slug_conflict` for a slug that is taken, `conflict` when the team has too many scripts,
 * `storage_limit_exceeded`.
 */
export async function createScript(tx: Tx, script: NewScript, slug: string | null): Promise<ScriptHead> {
  const [held] = await tx
    .select({ count: count() })
    .from(scripts)
    .where(and(eq(scripts.teamId, script.teamId), eq(scripts.isActive, true)))
  if (held!.count >= SCRIPTS_MAX)
    throw new ServiceError('conflict', `This team has ${SCRIPTS_MAX} scripts, which is the limit; delete some first`)
  // The script's row and its first version each hold the source.
  await assertStorageLeft(tx, script.teamId, 2 * bytesOf(script))
  if (slug !== null) {
    const taken = await takenSlugs(tx, script.teamId, slug)
    const row = taken.has(slug) ? null : await insert(tx, script, slug)
    if (row) return row
    throw new ServiceError('slug_conflict', `slug: ${JSON.stringify(slug)} is taken; choose another`)
  }
  const taken = await takenSlugs(tx, script.teamId, slugOf(script.name).slice(0, SLUG_PREFIX))
  let tries = 0
  for (const choice of slugChoices(script.name)) {
    if (taken.has(choice)) continue
    const row = await insert(tx, script, choice)
    if (row) return row
    // A concurrent transaction has taken it.
    if (++tries === SLUG_TRIES) break
  }
  throw new ServiceError('slug_conflict', 'name: too many scripts with this name are being saved at once; try again')
}

const bytesOf = ({ content, requirements }: Pick<NewScript, 'content' | 'requirements'>): number =>
  Buffer.byteLength(content) + Buffer.byteLength(requirements ?? '')

/** Slugs of the team and of the templates with this beginning. */
async function takenSlugs(tx: Tx, teamId: string, beginning: string): Promise<Set<string>> {
  const rows = await tx
    .select({ slug: scripts.slug })
    .from(scripts)
    .where(
      and(
        eq(scripts.isActive, true),
        or(eq(scripts.teamId, teamId), isNull(scripts.teamId)),
        sql`starts_with(${scripts.slug}, ${beginning})`
      )
    )
  return new Set(rows.map(({ slug }) => slug))
}

/** @returns `null` when another transaction has taken the slug; that one is waited for. */
async function insert(tx: Tx, script: NewScript, slug: string): Promise<ScriptHead | null> {
  const { source_sha256: sourceSha256 } = script.metadata
  const [row] = await tx
    .insert(scripts)
    .values({ id: newId(), ...script, slug, sourceSha256 })
    .onConflictDoNothing({
      target: [scripts.teamId, scripts.slug],
      where: sql`is_active and team_id is not null`
    })
    .returning(headColumns)
  if (!row) return null
  await storeVersion(tx, row.id, script.userId)
  return row
}

/**
 * Stores the script as it is as a version, which never changes, since jobs name the version that they ran. The source is copied
 * within the database.
 */
export const storeVersion = (tx: DbOrTx, scriptId: string, createdBy: string | null) =>
  tx.execute(sql`
    insert into ${scriptVersions} (script_id, version, content, source_sha256, framework, requirements, metadata, created_by)
    select id, version, content, source_sha256, framework, requirements, metadata, ${createdBy}::uuid
    from ${scripts} where id = ${scriptId}`)

/** The current row, locked until the transaction ends; jobs can still name it. `null` when it was deleted. */
export async function lockScript(tx: Tx, id: string): Promise<ScriptHead | null> {
  const [row] = await tx
    .select(headColumns)
    .from(scripts)
    .where(and(eq(scripts.id, id), eq(scripts.isActive, true)))
    .for('no key update')
  return row ?? null
}

/** The changes to a script. Absent fields stay unchanged. */
export interface ScriptChange {
  name?: string
  description?: string
  framework?: Framework
  requirements?: string | null
  /** The new source, with the metadata that reading it revealed. */
  source?: { content: string; metadata: ScriptMetadata }
}

/**
 * Changes a locked script. A change that affects what a job would run creates a new version.
 * @throws ServiceError `conflict` when it has too many versions, `storage_limit_exceeded`.
 */
export async function changeScript(
  tx: Tx,
  row: ScriptHead,
  change: ScriptChange,
  changedBy: string
): Promise<ScriptHead> {
  const { source, name = row.name, description = row.description } = change
  const framework = change.framework ?? row.framework
  const requirements = change.requirements === undefined ? row.requirements : change.requirements
  const metadata = source?.metadata ?? row.metadata
  const runsOtherwise =
    metadata.source_sha256 !== row.sourceSha256 || framework !== row.framework || requirements !== row.requirements
  if (runsOtherwise && row.version >= VERSIONS_MAX)
    throw new ServiceError(
      'conflict',
      `This script has ${VERSIONS_MAX} versions, which is the limit; save it as a new script`
    )
  if (runsOtherwise && row.teamId) {
    const contentBytes = source ? Buffer.byteLength(source.content) : row.contentBytes
    await assertStorageLeft(tx, row.teamId, contentBytes + Buffer.byteLength(requirements ?? ''))
  }
  const [changed] = await tx
    .update(scripts)
    .set({
      name,
      description,
      framework,
      requirements,
      ...(source && { content: source.content }),
      metadata,
      sourceSha256: metadata.source_sha256,
      version: row.version + (runsOtherwise ? 1 : 0),
      updatedAt: sql`clock_timestamp()`
    })
    .where(eq(scripts.id, row.id))
    .returning(headColumns)
  if (runsOtherwise) await storeVersion(tx, row.id, changedBy)
  return changed!
}

/**
 * Publishes a script: from now on everyone can read and run it, and no one can change it. Repeating it has no effect.
 */
export async function publishScript(tx: Tx, row: ScriptHead): Promise<ScriptHead> {
  if (row.isPublic) return row
  const [published] = await tx
    .update(scripts)
    .set({ isPublic: true, publishedAt: sql`clock_timestamp()`, updatedAt: sql`clock_timestamp()` })
    .where(eq(scripts.id, row.id))
    .returning(headColumns)
  return published!
}

/**
 * Frees its slug and its bytes: its versions and its text are removed. Jobs that ran it still name it, and have the source that
 * they ran.
 */
export async function deleteScript(tx: Tx, id: string): Promise<void> {
  await tx
    .update(scripts)
    .set({ isActive: false, content: '', requirements: null, updatedAt: sql`clock_timestamp()` })
    .where(eq(scripts.id, id))
  await tx.delete(scriptVersions).where(eq(scriptVersions.scriptId, id))
}

/** For a team that is deleted: scripts that a job names keep their row, the others are deleted. */
export async function deleteScriptsOfTeam(tx: Tx, teamId: string): Promise<void> {
  await tx
    .update(scripts)
    .set({ isActive: false, updatedAt: sql`clock_timestamp()` })
    .where(and(eq(scripts.teamId, teamId), eq(scripts.isActive, true)))
  await tx.execute(sql`delete from ${scripts} where ${scripts.teamId} = ${teamId}
    and not exists (select 1 from ${jobs} where ${jobs.scriptId} = ${scripts.id})`)
}
