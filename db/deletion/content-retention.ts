// Removes contents of finished jobs when their time is over: results with files, values of tasks, output. The job's record stays
// and says when (db/contents/removed-contents.ts). The jobs of a capsule keep theirs as long as the capsule exists: its evidence, its
// verdicts and the proofs of its audit trail are compared with them.
import { type SQL, sql } from 'drizzle-orm'
import {
  CHANGE_HOURS,
  type ContentKind,
  contentKindNames,
  type KeptDays
} from '../../domain/teams/content-retention.js'
import type { Db } from '../client.js'
import { firstIdAt } from '../ids.js'
import { allowTimeFor } from '../stored-content.js'

/** One kind of content of one team, and how long it is kept. */
export interface KeptContent {
  teamId: string
  kind: ContentKind
  days: number
  /** The id of the last job that needs no look any more; `null`: none. */
  mark: string | null
}

/** How many jobs one look reads. */
const JOBS_AT_ONCE = 200
/** Ids are made by the clocks of the apis, which differ from that of the database by less. */
const CLOCKS_MS = 3_600_000
const DAY_MS = 24 * 3_600_000
/** How many bytes one transaction removes, before the last job of it. */
const BYTES_AT_ONCE = 32 * 1024 ** 2

interface Shape {
  /** Bytes of the content of the job `j`. */
  bytes: SQL
  /** Statements that remove the content of `due`, each returning `job_id`. */
  removals: readonly SQL[]
}

const ofDue = sql`job_id in (select id from due)`

const shapes: Record<ContentKind, Shape> = {
  results: {
    bytes: sql`(select sum(size_bytes) from artifacts x where x.job_id = j.id)`,
    removals: [sql`delete from artifacts where ${ofDue} returning job_id`]
  },
  task_values: {
    bytes: sql`(select sum(size_bytes) from task_values x where x.job_id = j.id)`,
    removals: [sql`delete from task_values where ${ofDue} returning job_id`]
  },
  output: {
    bytes: sql`(select sum(octet_length(text)) from job_output x where x.job_id = j.id)`,
    removals: [
      sql`delete from job_output where ${ofDue} returning job_id`,
      sql`update job_tasks set stdout = null where ${ofDue} and stdout is not null returning job_id`
    ]
  }
}

/**
 * What the next teams keep for a limited time.
 * @param platform how long the operator keeps contents.
 * @param after the last team of the page before.
 * @param max how many teams.
 * @returns also the last team of the page; `null`: there are no more.
 */
export async function limitedContents(
  db: Db,
  platform: KeptDays,
  { after, max }: { after: string | null; max: number }
): Promise<{ contents: KeptContent[]; last: string | null }> {
  const kinds = sql.join(
    contentKindNames.map((kind) => sql`(${kind}::text, ${platform[kind]}::int)`),
    sql`, `
  )
  const all = contentKindNames.some((kind) => platform[kind] !== null)
  const rows = await db.execute<{ team_id: string; kind: ContentKind; days: number | null; mark: string | null }>(sql`
    with page as (
      select id from teams t where (${after}::uuid is null or id > ${after}::uuid)
        and (${all}::boolean or exists (select from content_retention r where r.team_id = t.id))
      order by id limit ${max}::int)
    select p.id as team_id, k.kind, least(r.days, k.days) as days, m.job_id as mark
    from page p cross join (values ${kinds}) as k (kind, days)
      left join content_retention r on r.team_id = p.id and r.kind = k.kind
        and r.changed_at <= clock_timestamp() - ${CHANGE_HOURS}::int * interval '1 hour'
      left join content_retention_marks m on m.team_id = p.id and m.kind = k.kind
    order by p.id, k.kind`)
  const contents = rows.flatMap(({ team_id: teamId, kind, days, mark }) =>
    days === null ? [] : [{ teamId, kind, days, mark }]
  )
  return { contents, last: rows.at(-1)?.team_id ?? null }
}

/** What one look at a team's jobs did. */
export interface Removal {
  /** Of how many jobs contents were removed. */
  removed: number
  /** The last job that was read; `null`: there are no more. */
  last: string | null
  /** As in `KeptContent`. */
  mark: string | null
}

/**
 * Removes what is due of the team's next jobs, the oldest first.
 * @param after the last job that an earlier look of the same pass has read; the mark in the first.
 */
export async function removeDue(db: Db, content: KeptContent, after: string | null): Promise<Removal> {
  const { teamId, kind, days, mark } = content
  const over = sql`clock_timestamp() - ${days}::int * interval '1 day'`
  // Ids sort by time: without this bound, a look would read all jobs of the team.
  const youngest = firstIdAt(new Date(Date.now() - days * DAY_MS + CLOCKS_MS))
  const unordered = sql`make_interval(secs => ${CLOCKS_MS / 1_000}::int)`
  const rows = await db.execute<{ id: string; due: boolean; settled: boolean; bytes: number }>(sql`
    select j.id, coalesce(j.completed_at <= ${over} and ${ofNoCapsule}, false) as due,
      coalesce(j.completed_at <= ${over}, false) and j.created_at <= ${over} - ${unordered} as settled,
      coalesce(${shapes[kind].bytes}, 0)::float8 as bytes
    from jobs j where j.team_id = ${teamId}::uuid and j.created_at <= ${over} and j.id < ${youngest}::uuid
      ${after ? sql`and j.id > ${after}::uuid` : sql``}
    order by j.id limit ${JOBS_AT_ONCE}::int`)
  let removed = 0
  for (const group of groupsOf(rows.filter(({ due }) => due))) removed += await remove(db, kind, group)
  const firstOpen = rows.findIndex(({ settled }) => !settled)
  const settled = (firstOpen < 0 ? rows : rows.slice(0, firstOpen)).at(-1)
  // Behind a job that is not, the jobs are looked at again in the next pass.
  const moves = settled !== undefined && after === mark
  if (moves) await setMark(db, content, settled.id)
  return { removed, last: rows.length < JOBS_AT_ONCE ? null : rows.at(-1)!.id, mark: moves ? settled.id : mark }
}

const ofNoCapsule = sql`not exists (select from capsules c where c.id = j.capsule_id or c.source_job_id = j.id)`

interface Group {
  ids: string[]
  bytes: number
}

function groupsOf(jobs: readonly { id: string; bytes: number }[]): Group[] {
  const groups: Group[] = []
  for (const { id, bytes } of jobs) {
    let group = groups.at(-1)
    if (!group || group.bytes >= BYTES_AT_ONCE) {
      group = { ids: [], bytes: 0 }
      groups.push(group)
    }
    group.ids.push(id)
    group.bytes += bytes
  }
  return groups
}

/** @returns of how many jobs something was removed. */
async function remove(db: Db, kind: ContentKind, { ids, bytes }: Group): Promise<number> {
  const { removals } = shapes[kind]
  const steps = removals.map((removal, at) => sql`${gone(at)} as (${removal})`)
  const all = removals.map((_, at) => sql`select job_id from ${gone(at)}`)
  return db.transaction(async (tx) => {
    await allowTimeFor(tx, bytes)
    // A capsule can have been made of a job meanwhile.
    const rows = await tx.execute(sql`
      with due as (select j.id from jobs j where j.id = any(string_to_array(${ids.join(',')}, ',')::uuid[]) and ${ofNoCapsule}),
        ${sql.join(steps, sql`, `)}
      insert into removed_contents (job_id, kind)
        select job_id, ${kind}::text from (${sql.join(all, sql` union `)}) as removed
      on conflict do nothing returning 1`)
    return rows.length
  })
}

const gone = (at: number): SQL => sql.raw(`gone_${at}`)

const setMark = (db: Db, { teamId, kind }: KeptContent, jobId: string) =>
  db.execute(sql`
    insert into content_retention_marks (team_id, kind, job_id) values (${teamId}::uuid, ${kind}, ${jobId}::uuid)
    on conflict (team_id, kind) do update set job_id = excluded.job_id`)
