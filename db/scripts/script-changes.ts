// Making, changing, publishing and deleting saved scripts. The team is locked by the caller (`lockTeamForWrite`); the row of
// a script is locked here, so that two changes at once come one after the other and each is a version of its own.
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
import type { ScriptRow } from './scripts.js'

/** Slugs that are tried for one name, after those that are known to be taken. */
const SLUG_TRIES = 50
/** All slugs of one name begin with as much of it. */
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
 * Saves a script under the slug given, or under the first that its name leaves free.
 * @throws ServiceError `slug_conflict` for a slug that is taken, `conflict` when the team has too many scripts.
 */
export async function createScript(tx: Tx, script: NewScript, slug: string | null): Promise<ScriptRow> {
  const [held] = await tx
    .select({ count: count() })
    .from(scripts)
    .where(and(eq(scripts.teamId, script.teamId), eq(scripts.isActive, true)))
  if (held!.count >= SCRIPTS_MAX)
    throw new ServiceError('conflict', `This team has ${SCRIPTS_MAX} scripts, the most that it may have; delete some`)
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
    // Somebody else has taken it in this moment.
    if (++tries === SLUG_TRIES) break
  }
  throw new ServiceError('slug_conflict', 'name: many scripts of this name are being saved at once; try again')
}

/** Slugs of the team and of the templates that begin so. */
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

/** @returns `null` when another transaction has taken the slug: that one is waited for. */
async function insert(tx: Tx, script: NewScript, slug: string): Promise<ScriptRow | null> {
  const { source_sha256: sourceSha256 } = script.metadata
  const [row] = await tx
    .insert(scripts)
    .values({ id: newId(), ...script, slug, sourceSha256 })
    .onConflictDoNothing({
      target: [scripts.teamId, scripts.slug],
      where: sql`is_active and team_id is not null`
    })
    .returning()
  if (!row) return null
  await storeVersion(tx, row, script.userId)
  return row
}

/** A version is what a job that names it ran, so it never changes. */
export const storeVersion = (tx: DbOrTx, row: ScriptRow, createdBy: string | null) =>
  tx.insert(scriptVersions).values({
    scriptId: row.id,
    version: row.version,
    content: row.content,
    sourceSha256: row.sourceSha256,
    framework: row.framework,
    requirements: row.requirements,
    metadata: row.metadata,
    createdBy
  })

/** The present row, locked until the transaction ends, which keeps no job from naming it; `null` when it was deleted. */
export async function lockScript(tx: Tx, id: string): Promise<ScriptRow | null> {
  const [row] = await tx
    .select()
    .from(scripts)
    .where(and(eq(scripts.id, id), eq(scripts.isActive, true)))
    .for('no key update')
  return row ?? null
}

/** What a change says; absent fields stay. */
export interface ScriptChange {
  name?: string
  description?: string
  framework?: Framework
  requirements?: string | null
  /** With what was read in it. */
  source?: { content: string; metadata: ScriptMetadata }
}

/**
 * Changes a locked script. What changes what a job would run is a new version.
 * @throws ServiceError `conflict` when it has too many versions.
 */
export async function changeScript(
  tx: Tx,
  row: ScriptRow,
  change: ScriptChange,
  changedBy: string
): Promise<ScriptRow> {
  const { source, name = row.name, description = row.description } = change
  const framework = change.framework ?? row.framework
  const requirements = change.requirements === undefined ? row.requirements : change.requirements
  const content = source?.content ?? row.content
  const runsOtherwise = content !== row.content || framework !== row.framework || requirements !== row.requirements
  if (runsOtherwise && row.version >= VERSIONS_MAX)
    throw new ServiceError(
      'conflict',
      `This script has ${VERSIONS_MAX} versions, the most that one may have; save it as a new script`
    )
  const metadata = source?.metadata ?? row.metadata
  const [changed] = await tx
    .update(scripts)
    .set({
      name,
      description,
      framework,
      requirements,
      content,
      metadata,
      sourceSha256: metadata.source_sha256,
      version: row.version + (runsOtherwise ? 1 : 0),
      updatedAt: sql`clock_timestamp()`
    })
    .where(eq(scripts.id, row.id))
    .returning()
  if (runsOtherwise) await storeVersion(tx, changed!, changedBy)
  return changed!
}

/** From here on everybody may read and run it, and nobody may change it. One that is published stays as it is. */
export async function publishScript(tx: Tx, row: ScriptRow): Promise<ScriptRow> {
  if (row.isPublic) return row
  const [published] = await tx
    .update(scripts)
    .set({ isPublic: true, publishedAt: sql`clock_timestamp()`, updatedAt: sql`clock_timestamp()` })
    .where(eq(scripts.id, row.id))
    .returning()
  return published!
}

/** Its slug is free again; the jobs that ran it go on naming it. */
export async function deleteScript(tx: Tx, id: string): Promise<void> {
  await tx.update(scripts).set({ isActive: false, updatedAt: sql`clock_timestamp()` }).where(eq(scripts.id, id))
}

/** Of a team that is deleted: those that a job names stay as rows, for their jobs; the others are gone. */
export async function deleteScriptsOfTeam(tx: Tx, teamId: string): Promise<void> {
  await tx
    .update(scripts)
    .set({ isActive: false, updatedAt: sql`clock_timestamp()` })
    .where(and(eq(scripts.teamId, teamId), eq(scripts.isActive, true)))
  await tx.execute(sql`delete from ${scripts} where ${scripts.teamId} = ${teamId}
    and not exists (select 1 from ${jobs} where ${jobs.scriptId} = ${scripts.id})`)
}
