// Starts that are not told to an engine yet: their backend is away, or their team has as many jobs under way as it may.
// A held row is passed over by every look for due rows, however many there are; it is given on when the backend is back,
// or when a job of the team ends, and a sweep gives on whatever those have missed.
//
// The limit counts what runs and what an engine was told and nobody has begun. Those who tell at the same moment do not
// see each other: a team may be over its limit by what they take at once (the batches of nudge and relay), never by more.
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../client.js'
import { backends } from '../tables/backends.js'
import { jobs, outbox } from '../tables/jobs.js'

/** A held row is looked at by itself this long after, were it forgotten by everything else. */
const HELD_SECONDS = 3_600
/** A row due sooner than this has been given on already. */
const GIVEN_ON_SECONDS = 60
const heldUntil = sql`now() + make_interval(secs => ${HELD_SECONDS})`
const notGivenOn = sql`next_at > now() + make_interval(secs => ${GIVEN_ON_SECONDS})`

/** A backend that takes jobs; a retired one takes them too, to fail them. */
const takesJobs = sql`(is_retired or (is_available and status = 'online'))`

/**
 * A team's rows that wait for room, to be ordered by `team_id, job_id`. As a range, since with an equation Postgres may
 * believe that going through everybody's rows by their ids is as good as the index of held ones.
 */
const heldOf = (team: SQL): SQL => sql`held_reason = 'concurrency_limit' and team_id >= ${team} and team_id <= ${team}`

/** Of a `team_id`: how many more jobs its limit leaves. Reads no further than the limit. */
function freeSlots(team: SQL, runningMax: number): SQL {
  // The same for the life of a process, and a plan for every value of a parameter would be made anew each time.
  const most = sql.raw(String(Math.floor(runningMax)))
  return sql`${most}
  - (select count(*)::int from (select 1 from ${jobs} where team_id = ${team} and status in ('running', 'cancelling')
      limit ${most}) under_way)
  - (select count(*)::int from (select 1 from ${outbox} where team_id = ${team} and kind = 'start' and deliveries > 0
      limit ${most}) delivered)`
}

/**
 * One statement that lets rows pass or holds them. A start passes in the order of submission; what was told before, a
 * later generation and a cancel always do: their job has its place already.
 * @param chosen selects the rows of the outbox to judge.
 * @param passedUntil when a row that passes is looked at next; `null` leaves it as it is.
 * @returns the rows chosen, with `held`: why one has to wait, or null.
 */
export function judgeStarts(chosen: SQL, runningMax: number, passedUntil: SQL | null): SQL {
  return sql`
    with chosen as (${chosen}),
      starts as (
        select job_id, team_id, exists (select 1 from ${backends} where slug = chosen.backend and not ${takesJobs}) as away
        from chosen where kind = 'start' and deliveries = 0 and generation = 1),
      -- Once for a team, not for each of its rows.
      room as materialized (
        select team_id, ${freeSlots(sql`team.team_id`, runningMax)} as free,
          -- Whoever waits longer goes first.
          (select job_id from ${outbox} where ${heldOf(sql`team.team_id`)}
            and job_id not in (select job_id from chosen) order by team_id, job_id limit 1) as oldest_held
        from (select distinct team_id from starts) team),
      judged as (
        select job_id, case
            when away then 'backend_offline'
            when oldest_held < job_id or row_number() over (partition by team_id, away order by job_id) > free
              then 'concurrency_limit' end as reason
        from starts join room using (team_id)),
      noted as (
        update ${outbox} set held_reason = judged.reason,
          unreachable_since = case when judged.reason is null then unreachable_since end,
          next_at = case when judged.reason is null then ${passedUntil ?? sql`next_at`} else ${heldUntil} end
        from chosen left join judged on judged.job_id = chosen.job_id and kind = 'start'
        where outbox.job_id = chosen.job_id and outbox.kind = chosen.kind and outbox.deliveries = chosen.deliveries
          and ${passedUntil ? sql`true` : sql`judged.reason is not null`})
    select chosen.job_id as "jobId", kind, mode, generation, deliveries, reason as held
    from chosen left join judged on judged.job_id = chosen.job_id and kind = 'start'`
}

/**
 * A part of the statement that ends a job: the start of its team that has been held the longest is due now.
 * @param ended a table of that statement with the job, or nothing: `id`, `team_id`. The job's own start is deleted there.
 */
export const releaseNextDeferred = (ended: SQL): SQL => sql`
  update ${outbox} set next_at = now() where kind = 'start' and job_id = (
    select job_id from ${outbox} where ${heldOf(sql`(select team_id from ${ended})`)}
      and job_id <> (select id from ${ended}) and ${notGivenOn}
    order by team_id, job_id limit 1 for update skip locked)`

/** What a pass of the sweep gives on for one backend, or one team, at most. */
const GIVEN_ON_MAX = 500

/** Gives on what waits for a backend that is back, and what a team has room for. @returns how many rows. */
export async function releaseDeferred(db: Db, runningMax: number): Promise<number> {
  const back = await db.execute(sql`
    with chosen as materialized (
      select waiting.job_id from ${backends} cross join lateral (
        select job_id from ${outbox} where held_reason = 'backend_offline' and backend >= slug and backend <= slug
        order by backend, job_id limit ${GIVEN_ON_MAX} for update skip locked) waiting
      where ${takesJobs})
    update ${outbox} set next_at = now(), held_reason = null
      where kind = 'start' and job_id in (select job_id from chosen)
    returning 1`)
  // From team to team by the index, not from row to row.
  const free = await db.execute(sql`
    with recursive team as (
        (select team_id from ${outbox} where held_reason = 'concurrency_limit' order by team_id limit 1)
        union all
        select (select team_id from ${outbox} where held_reason = 'concurrency_limit' and team_id > team.team_id
          order by team_id limit 1)
        from team where team_id is not null),
      room as (select team_id, least(${GIVEN_ON_MAX}, greatest(0, ${freeSlots(sql`team.team_id`, runningMax)})) as free
        from team where team_id is not null),
      chosen as materialized (
        select waiting.job_id from room cross join lateral (
          select job_id from ${outbox} where ${heldOf(sql`room.team_id`)}
          order by team_id, job_id limit room.free for update skip locked) waiting)
    update ${outbox} set next_at = now()
      where kind = 'start' and ${notGivenOn} and job_id in (select job_id from chosen)
    returning 1`)
  return back.length + free.length
}
