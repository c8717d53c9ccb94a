// Finds and lists saved scripts. Reads always name the caller: members see the scripts of their teams, and everyone
// sees published ones. Deleted scripts are invisible.
import { and, desc, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { type Page, TOTAL_MAX } from '../../domain/json/page.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { ScriptKind, ScriptType } from '../../domain/scripts/script.js'
import { cappedCount, ONE } from '../capped-count.js'
import type { DbOrTx } from '../client.js'
import { members } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { scripts, scriptVersions } from '../tables/scripts.js'
import { type Caller, membershipsOf, teamIdsOf } from '../teams/memberships.js'

/** How many of its last jobs a script shows. */
const LAST_JOBS = 10

export type ScriptRow = typeof scripts.$inferSelect

const { content: _content, ...withoutContent } = getTableColumns(scripts)

/** A script without its source, which can have 1 MiB: what changes need of it. */
export const headColumns = { ...withoutContent, contentBytes: sql<number>`octet_length(${scripts.content})` }

export type ScriptHead = Omit<ScriptRow, 'content'> & { contentBytes: number }

const itemColumns = {
  id: scripts.id,
  slug: scripts.slug,
  name: scripts.name,
  description: scripts.description,
  scriptType: scripts.scriptType,
  category: scripts.category,
  isPublic: scripts.isPublic,
  isHardcoded: scripts.isHardcoded,
  framework: scripts.framework,
  teamId: scripts.teamId,
  version: scripts.version,
  createdAt: scripts.createdAt
}

const itemQuery = (db: DbOrTx) => db.select(itemColumns).from(scripts)

export type ScriptItem = Awaited<ReturnType<typeof itemQuery>>[number] & { executions: number }

/**
 * Written so that the planner can use the indexes of teams and of published scripts; it cannot with a subquery inside
 * an `or`.
 */
const isVisibleTo = (db: DbOrTx, caller: Caller): SQL =>
  sql`${scripts.isActive} and (${scripts.isPublic} or ${scripts.teamId} = any(array(${teamIdsOf(db, caller)})))`

export interface ScriptFilter extends Page {
  type?: ScriptType
  /** Only scripts that the caller owns. */
  mine: boolean
  kind?: ScriptKind
  teamId?: string
  /** Text that occurs in the name, the description or the slug, or at the beginning of the id. */
  text?: string
}

const ofKind = (db: DbOrTx, caller: Caller, kind: ScriptKind): SQL => {
  switch (kind) {
    case 'own':
      return eq(scripts.userId, caller.userId)
    case 'team':
      return inArray(scripts.teamId, teamIdsOf(db, caller))
    case 'public':
      return and(eq(scripts.isPublic, true), eq(scripts.isHardcoded, false))!
    case 'template':
      return eq(scripts.isHardcoded, true)
  }
}

const holds = (text: string): SQL =>
  sql`(strpos(lower(${scripts.name}), lower(${text})) > 0 or strpos(lower(${scripts.description}), lower(${text})) > 0
    or strpos(${scripts.slug}, lower(${text})) > 0 or starts_with(${scripts.id}::text, lower(${text})))`

/**
 * Scripts that the caller can see, newest first (ids sort by time).
 * @returns `total` is counted no further than `TOTAL_MAX + 1`.
 */
export async function listScripts(
  db: DbOrTx,
  caller: Caller,
  { limit, offset, type, mine, kind, teamId, text }: ScriptFilter
): Promise<{ rows: ScriptItem[]; total: number }> {
  const where = and(
    isVisibleTo(db, caller),
    type && eq(scripts.scriptType, type),
    mine ? eq(scripts.userId, caller.userId) : undefined,
    kind && ofKind(db, caller, kind),
    teamId === undefined ? undefined : eq(scripts.teamId, teamId),
    text === undefined ? undefined : holds(text)
  )
  const [rows, total] = await Promise.all([
    itemQuery(db).where(where).orderBy(desc(scripts.id)).limit(limit).offset(offset),
    cappedCount(db, db.select(ONE).from(scripts).where(where).$dynamic())
  ])
  const ids = rows.map(({ id }) => id)
  const executions = await countExecutions(db, caller, ids)
  return { rows: rows.map((row) => ({ ...row, executions: executions.get(row.id) ?? 0 })), total }
}

/** A script that the caller can see, or `null`. */
export async function loadScript(db: DbOrTx, caller: Caller, id: string): Promise<ScriptRow | null> {
  const [row] = await db
    .select()
    .from(scripts)
    .where(and(eq(scripts.id, id), isVisibleTo(db, caller)))
  return row ?? null
}

/** A script that the caller can see, without its source, or `null`. */
export async function loadScriptHead(db: DbOrTx, caller: Caller, id: string): Promise<ScriptHead | null> {
  const [row] = await db
    .select(headColumns)
    .from(scripts)
    .where(and(eq(scripts.id, id), isVisibleTo(db, caller)))
  return row ?? null
}

/** The present source of a script that exists. */
export async function loadContent(db: DbOrTx, id: string): Promise<string> {
  const [row] = await db.select({ content: scripts.content }).from(scripts).where(eq(scripts.id, id))
  return row!.content
}

/** Resolves a submission by slug: a script of the acting team, or else a template. */
export async function loadScriptBySlug(db: DbOrTx, teamId: string, slug: string): Promise<ScriptRow | null> {
  const [row] = await db
    .select()
    .from(scripts)
    .where(
      and(eq(scripts.isActive, true), eq(scripts.slug, slug), or(eq(scripts.teamId, teamId), isNull(scripts.teamId)))
    )
    .orderBy(sql`${scripts.teamId} is null`)
    .limit(1)
  return row ?? null
}

/** The content of one version of a script; `null` when the version does not exist. */
export async function loadScriptVersion(
  db: DbOrTx,
  scriptId: string,
  version: number
): Promise<{ content: string } | null> {
  const [row] = await db
    .select({ content: scriptVersions.content })
    .from(scriptVersions)
    .where(and(eq(scriptVersions.scriptId, scriptId), eq(scriptVersions.version, version)))
  return row ?? null
}

/** The number of qubits of one version of a script; `null` when its source does not determine it. */
export async function widthOfScriptVersion(db: DbOrTx, scriptId: string, version: number): Promise<number | null> {
  const [row] = await db
    .select({ metadata: scriptVersions.metadata })
    .from(scriptVersions)
    .where(and(eq(scriptVersions.scriptId, scriptId), eq(scriptVersions.version, version)))
  return row?.metadata?.qubits ?? null
}

/**
 * Whether the caller can change a script: its owner while they are a member of its team; when the owner has left the
 * team or was deleted, the owner of the team. An API key can do what its creator can, except for the latter.
 */
export async function ownsScript(
  db: DbOrTx,
  { userId, key }: Caller,
  script: Pick<ScriptRow, 'teamId' | 'userId'>
): Promise<boolean> {
  if (script.teamId === null || (key && key.teamId !== script.teamId)) return false
  const rows = await db
    .select({ id: members.userId, role: members.role })
    .from(members)
    .where(and(eq(members.teamId, script.teamId), inArray(members.userId, [userId, script.userId ?? userId])))
  const caller = rows.find(({ id }) => id === userId)
  if (!caller || script.userId === userId) return caller !== undefined
  return !key && caller.role === 'owner' && !rows.some(({ id }) => id === script.userId)
}

/** How many jobs of the caller's teams ran each of the scripts, by id; per team counted no further than `TOTAL_MAX`. */
export async function countExecutions(db: DbOrTx, caller: Caller, ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db.execute<{ id: string; count: number }>(sql`
    select script.id::text as id, coalesce(sum(ran.count), 0)::int as count
    from unnest(string_to_array(${ids.join(',')}, ',')::uuid[]) script(id)
    cross join ${members} cross join lateral (
      select count(*) as count from (
        select 1 from ${jobs} where ${jobs.scriptId} = script.id and ${jobs.teamId} = ${members.teamId}
        limit ${TOTAL_MAX}) counted) ran
    where ${membershipsOf(caller)} group by script.id`)
  return new Map(rows.map(({ id, count }) => [id, count]))
}

export interface Execution {
  id: string
  status: JobStatus
  backend: string
  scriptVersion: number | null
  createdAt: Date
  completedAt: Date | null
  estimatedCost: MicroUsd
}

/** The last jobs of the caller's teams that ran the script, newest first. */
export async function lastExecutions(db: DbOrTx, caller: Caller, scriptId: string): Promise<Execution[]> {
  const newest = sql`${jobs.id} in (select newest.id from ${members} cross join lateral (
    select ${jobs.id} as id from ${jobs} where ${jobs.scriptId} = ${scriptId} and ${jobs.teamId} = ${members.teamId}
    order by ${jobs.id} desc limit ${LAST_JOBS}) newest
    where ${membershipsOf(caller)} order by newest.id desc limit ${LAST_JOBS})`
  return db
    .select({
      id: jobs.id,
      status: jobs.status,
      backend: jobs.backend,
      scriptVersion: jobs.scriptVersion,
      createdAt: jobs.createdAt,
      completedAt: jobs.completedAt,
      estimatedCost: jobs.estimatedCost
    })
    .from(jobs)
    .where(newest)
    .orderBy(desc(jobs.id))
}
