// Deferred starts: their backend is offline, or their team is at its concurrency limit. A deferred row is skipped by
// every query for due rows, however many there are. It is released when the backend is back online or when a job of the
// team ends, and a sweep releases what these events have missed.
//
// The limit counts running jobs and delivered starts that no worker has claimed. Concurrent dispatchers do not see each
// other, so a team can exceed its limit by what they take at once (the batches of nudge and relay), never by more.
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../client.js'
import { teams } from '../tables/accounts.js'
import { backends } from '../tables/backends.js'
import { jobs, outbox } from '../tables/jobs.js'

/** A deferred row that no event releases is looked at again after this period. */
const DEFERRED_SECONDS = 3_600
/** A row that is due sooner than this has been released already. */
const RELEASED_SECONDS = 60
const deferredUntil = sql`now() + make_interval(secs => ${DEFERRED_SECONDS})`
const notReleased = sql`next_at > now() + make_interval(secs => ${RELEASED_SECONDS})`

/** A backend that accepts jobs. A retired one does too, in order to fail them. */
const takesJobs = sql`(is_retired or (is_available and status = 'online'))`

/**
 * A team's deferred rows, to be ordered by `team_id, job_id`. Written as a range: with an equality, Postgres may prefer
 * a scan of all rows by id to the index of deferred ones.
 */
const deferredStartsOf = (team: SQL): SQL =>
  sql`held_reason = 'concurrency_limit' and team_id >= ${team} and team_id <= ${team}`

/** How many more jobs the limit of a `team_id` allows: its own, or that of the installation. Reads no further than the limit. */
function freeSlots(team: SQL, runningMax: number): SQL {
  // Inlined, since it is constant for a process: with a parameter, Postgres would plan for each value again.
  const installation = sql.raw(String(Math.floor(runningMax)))
  const most = sql`coalesce((select running_jobs_max from ${teams} where id = ${team}), ${installation})`
  return sql`${most}
  - (select count(*)::int from (select 1 from ${jobs} where team_id = ${team} and status in ('running', 'cancelling')
      limit ${most}) under_way)
  - (select count(*)::int from (select 1 from ${outbox} where team_id = ${team} and kind = 'start' and deliveries > 0
      limit ${most}) delivered)`
}

/**
 * One statement that passes or defers rows. A start passes in the order of submission. Rows delivered before, later
 * generations and cancels always pass: their job has its slot already.
 * @param chosen selects the rows of the outbox to judge.
 * @param passedUntil when a passed row is looked at next; `null` leaves the time unchanged.
 * @returns the chosen rows, with `held`: why one is deferred, or null.
 */
export function judgeStarts(chosen: SQL, runningMax: number, passedUntil: SQL | null): SQL {
  return sql`
    with chosen as (${chosen}),
      starts as (
        select job_id, team_id, exists (select 1 from ${backends} where slug = chosen.backend and not ${takesJobs}) as away
        from chosen where kind = 'start' and deliveries = 0 and generation = 1),
      -- Computed once per team, not for each of its rows.
      room as materialized (
        select team_id, ${freeSlots(sql`team.team_id`, runningMax)} as free,
          -- The job that has waited longest goes first.
          (select job_id from ${outbox} where ${deferredStartsOf(sql`team.team_id`)}
            and job_id not in (select job_id from chosen) order by team_id, job_id limit 1) as oldest_deferred
        from (select distinct team_id from starts) team),
      judged as (
        select job_id, case
            when away then 'backend_offline'
            when oldest_deferred < job_id or row_number() over (partition by team_id, away order by job_id) > free
              then 'concurrency_limit' end as reason
        from starts join room using (team_id)),
      noted as (
        update ${outbox} set held_reason = judged.reason,
          unreachable_since = case when judged.reason is null then unreachable_since end,
          next_at = case when judged.reason is null then ${passedUntil ?? sql`next_at`} else ${deferredUntil} end
        from chosen left join judged on judged.job_id = chosen.job_id and kind = 'start'
        where outbox.job_id = chosen.job_id and outbox.kind = chosen.kind and outbox.deliveries = chosen.deliveries
          and ${passedUntil ? sql`true` : sql`judged.reason is not null`})
    select chosen.job_id as "jobId", kind, mode, generation, deliveries, reason as held
    from chosen left join judged on judged.job_id = chosen.job_id and kind = 'start'`
}

/**
 * A part of the statement that ends a job: makes the oldest deferred start of its team due now.
 * @param ended a table of that statement with `id` and `team_id` of the job, or nothing. The statement deletes the
 * job's own start.
 */
export const releaseNextDeferred = (ended: SQL): SQL => sql`
  update ${outbox} set next_at = now() where kind = 'start' and job_id = (
    select job_id from ${outbox} where ${deferredStartsOf(sql`(select team_id from ${ended})`)}
      and job_id <> (select id from ${ended}) and ${notReleased}
    order by team_id, job_id limit 1 for update skip locked) returning 1`

/** How many rows a pass of the sweep releases at most for one backend, or for one team. */
const RELEASED_MAX = 500

/** Releases the rows of backends that are back online, and of teams that have free slots. @returns how many rows. */
export async function releaseDeferred(db: Db, runningMax: number): Promise<number> {
  const back = await db.execute(sql`
    with chosen as materialized (
      select waiting.job_id from ${backends} cross join lateral (
        select job_id from ${outbox} where held_reason = 'backend_offline' and backend >= slug and backend <= slug
        order by backend, job_id limit ${RELEASED_MAX} for update skip locked) waiting
      where ${takesJobs})
    update ${outbox} set next_at = now(), held_reason = null
      where kind = 'start' and job_id in (select job_id from chosen)
    returning 1`)
  // Steps from team to team by the index, not from row to row.
  const free = await db.execute(sql`
    with recursive team as (
        (select team_id from ${outbox} where held_reason = 'concurrency_limit' order by team_id limit 1)
        union all
        select (select team_id from ${outbox} where held_reason = 'concurrency_limit' and team_id > team.team_id
          order by team_id limit 1)
        from team where team_id is not null),
      room as (select team_id, least(${RELEASED_MAX}, greatest(0, ${freeSlots(sql`team.team_id`, runningMax)})) as free
        from team where team_id is not null),
      chosen as materialized (
        select waiting.job_id from room cross join lateral (
          select job_id from ${outbox} where ${deferredStartsOf(sql`room.team_id`)}
          order by team_id, job_id limit room.free for update skip locked) waiting)
    update ${outbox} set next_at = now()
      where kind = 'start' and ${notReleased} and job_id in (select job_id from chosen)
    returning 1`)
  return back.length + free.length
}
