// Lists of jobs, at a cost that does not grow with the number of jobs: for each team of the caller only the newest
// matches are read in index order, then the newest of those.
import { and, desc, eq, gt, lt, or, type SQL, sql } from 'drizzle-orm'
import { isJobStatus, type JobStatus } from '../../domain/jobs/job-status.js'
import { TOTAL_MAX } from '../../domain/json/page.js'
import { ONE } from '../capped-count.js'
import { anyOf, anyTextOf, type DbOrTx } from '../client.js'
import { estimatedRows } from '../estimated-rows.js'
import { endsWith, firstIdAt, spanOf, spansSince } from '../ids.js'
import { members } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'
import { type Caller, membershipsOf, teamIdsOf } from '../teams/memberships.js'
import { type ListedJob, listColumns } from './jobs.js'

/** How many jobs a text search reads at most. It reads all of their names and labels, for which there is no index. */
export const SEARCHED_MAX = 5_000

/**
 * An id comes from the API's clock, `created_at` from the database's. The range of ids searched for a time is wider by
 * this much than any difference of the clocks, so that no job is missed.
 */
const CLOCKS_MS = 86_400_000

export interface JobFilter {
  teamId?: string
  /** Only jobs in one of these statuses; none or empty: in any. */
  statuses?: readonly JobStatus[]
  backend?: string
  scriptId?: string
  capsuleId?: string
  /** Only jobs that the caller submitted. */
  mine?: boolean
  /** The last 8 to 12 characters of the id. */
  idEnd?: string
  createdAfter?: Date
  createdBefore?: Date
  /** Text that occurs in the name or a label, or at the beginning of the id. */
  text?: string
  /** Only jobs older than the one with this id. */
  before?: string
  limit: number
  offset: number
}

export interface JobPage {
  rows: ListedJob[]
  /** The value of `before` for the next page; `null` at the end. */
  next: string | null
  /** How many jobs match, counted no further than `TOTAL_MAX + 1`; for a search, how many of those that it read. */
  total: number
  /** About how many match, where more than `TOTAL_MAX` do; otherwise `null`. */
  estimate: number | null
  /** Whether more than `total` may match: a search read its `SEARCHED_MAX` jobs, and there are older ones. */
  unfinished: boolean
}

/** A filter with the spans of time in which the teams of the caller have jobs, for the end of an id. */
interface Filter extends JobFilter {
  spans?: string[]
}

/** Jobs of the caller's teams, newest first (ids sort by time). */
export async function listJobs(db: DbOrTx, caller: Caller, wanted: JobFilter): Promise<JobPage> {
  const filter: Filter = wanted.idEnd === undefined ? wanted : { ...wanted, spans: await spansOfJobs(db, caller) }
  const page = filter.text === undefined ? await listed(db, caller, filter) : await searched(db, caller, filter)
  const { ids, ...rest } = page
  if (ids.length === 0) return { rows: [], ...rest }
  const rows = await db.select(listColumns).from(jobs).where(anyOf(jobs.id, ids)).orderBy(desc(jobs.id))
  return { rows, ...rest }
}

async function spansOfJobs(db: DbOrTx, caller: Caller): Promise<string[]> {
  const [oldest] = await db.execute<{ id: string }>(sql`
    select oldest.id from ${members} cross join lateral (
      select id from ${jobs} where ${eq(jobs.teamId, members.teamId)} order by ${jobs.id} limit 1) oldest
    where ${membershipsOf(caller)} order by oldest.id limit 1`)
  return oldest ? spansSince(oldest.id) : []
}

type IdPage = Omit<JobPage, 'rows'> & { ids: string[] }

async function listed(db: DbOrTx, caller: Caller, filter: Filter): Promise<IdPage> {
  const { limit, offset } = filter
  const take = offset + limit + 1
  const [found, [counted]] = await Promise.all([
    db.execute<{ id: string }>(sql`
      select newest.id from ${newestOfTeams(caller, filter, sql`id`, take)}
      order by newest.id desc limit ${limit + 1} offset ${offset}`),
    db.execute<{ total: number }>(sql`
      select count(*)::int as total from (
        select 1 from ${members} cross join lateral (${ofEachStatus(
          filter,
          (status) => sql`
          select 1 from ${jobs} where ${matches(caller, filter, status)} limit ${TOTAL_MAX + 1}`
        )}) matching
        where ${membershipsOf(caller)} limit ${TOTAL_MAX + 1}) all_matching`)
  ])
  const ids = found.slice(0, limit).map(({ id }) => id)
  const { total } = counted!
  const estimate = total > TOTAL_MAX ? await estimatedTotal(db, caller, filter) : null
  return { ids, next: found.length > limit ? ids.at(-1)! : null, total, estimate, unfinished: false }
}

async function estimatedTotal(db: DbOrTx, caller: Caller, filter: Filter): Promise<number> {
  // The planner has to know the teams: one can have a job, another most of all.
  const teams = (await teamIdsOf(db, caller)).map(({ id }) => id)
  const { statuses = [] } = filter
  const ofStatuses = statuses.length > 0 ? or(...statuses.map(hasStatus)) : undefined
  return estimatedRows(
    db,
    db
      .select(ONE)
      .from(jobs)
      .where(and(anyOf(jobs.teamId, teams), ofStatuses, satisfies(caller, filter)))
  )
}

/**
 * Reads the newest `SEARCHED_MAX` jobs that satisfy the other conditions and returns where to continue, so that a
 * search is bounded and still reaches every job. A complete id is found directly, wherever it is.
 */
async function searched(db: DbOrTx, caller: Caller, filter: Filter): Promise<IdPage> {
  const { text = '', limit, offset } = filter
  const whole = uuid.test(text)
  const holds = sql`(strpos(lower(name), lower(${text})) > 0 or strpos(lower(labels::text), lower(${text})) > 0
    ${whole ? sql`` : sql`or starts_with(id::text, lower(${text}))`})`
  const named =
    whole && filter.before === undefined
      ? sql`union (${ofEachStatus(
          filter,
          (status) => sql`select ${jobs.id} from ${members} join ${jobs} on ${matches(caller, filter, status)}
            where ${membershipsOf(caller)} and ${eq(jobs.id, text)}`
        )})`
      : sql``
  const [row] = await db.execute<{ ids: string[]; total: number; read: number; last: string | null }>(sql`
    with searched as materialized (
        select newest.* from ${newestOfTeams(caller, filter, sql`id, name, labels`, SEARCHED_MAX)}
        order by newest.id desc limit ${SEARCHED_MAX}),
      found as (select id from searched where ${holds} ${named})
    select (select coalesce(json_agg(id), '[]') from
        (select id from found order by id desc limit ${limit + 1} offset ${offset}) page) as ids,
      (select count(*)::int from found) as total,
      (select count(*)::int from searched) as read,
      (select id from searched order by id limit 1) as last`)
  const { ids, total, read, last } = row!
  const unfinished = read === SEARCHED_MAX
  const shown = ids.slice(0, limit)
  const next = ids.length > limit ? shown.at(-1)! : unfinished ? last : null
  return { ids: shown, next, total, estimate: null, unfinished }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The newest `most` matching jobs of each team of the caller and in each status, as rows of `newest`. */
const newestOfTeams = (caller: Caller, filter: Filter, columns: SQL, most: number): SQL =>
  sql`(select newest.* from ${members} cross join lateral (${ofEachStatus(
    filter,
    (status) => sql`
    select ${columns} from ${jobs} where ${matches(caller, filter, status)} ${filter.before ? sql`and ${lt(jobs.id, filter.before)}` : sql``}
    order by ${jobs.id} desc limit ${most}`
  )}) newest where ${membershipsOf(caller)}) newest`

/**
 * One query for each status of the filter, so that each reads the index of its status in order: several in one condition
 * would be read and sorted whole.
 */
function ofEachStatus({ statuses = [] }: JobFilter, query: (status: JobStatus | null) => SQL): SQL {
  if (statuses.length === 0) return query(null)
  const queries = [...new Set(statuses)].map((status) => sql`(${query(status)})`)
  return sql.join(queries, sql` union all `)
}

/** Inlined in the statement: the planner knows how rare each status is, and picks the right index. */
export function hasStatus(status: JobStatus): SQL {
  if (!isJobStatus(status)) throw new Error(`no such status: ${status}`)
  return sql`${jobs.status} = ${sql.raw(`'${status}'`)}`
}

/**
 * The condition that a job belongs to the current membership, is in the status (`null`: in any), and satisfies the rest of
 * the filter, except for its text and its place.
 */
const matches = (caller: Caller, filter: Filter, status: JobStatus | null): SQL =>
  and(sql`${jobs.teamId} = ${members.teamId}`, status ? hasStatus(status) : undefined, satisfies(caller, filter))!

/** The condition of a filter, except for its statuses, its text and its place. */
function satisfies(
  caller: Caller,
  { teamId, backend, scriptId, capsuleId, mine, idEnd, spans, createdAfter, createdBefore }: Filter
): SQL | undefined {
  const idAt = (time: Date) => firstIdAt(new Date(Math.max(0, time.getTime())))
  return and(
    teamId ? eq(jobs.teamId, teamId) : undefined,
    backend ? eq(jobs.backend, backend) : undefined,
    scriptId ? eq(jobs.scriptId, scriptId) : undefined,
    capsuleId ? eq(jobs.capsuleId, capsuleId) : undefined,
    mine ? eq(jobs.userId, caller.userId) : undefined,
    spans ? anyTextOf(spanOf(jobs.id), spans) : undefined,
    idEnd ? endsWith(jobs.id, idEnd) : undefined,
    createdAfter && gt(jobs.createdAt, createdAfter),
    createdAfter && gt(jobs.id, idAt(new Date(createdAfter.getTime() - CLOCKS_MS))),
    createdBefore && lt(jobs.createdAt, createdBefore),
    createdBefore && lt(jobs.id, idAt(new Date(createdBefore.getTime() + CLOCKS_MS)))
  )
}
