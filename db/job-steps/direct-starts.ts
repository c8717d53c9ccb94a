// The direct jobs that a worker can claim. An entry of the direct queue means that there is work; which job comes next is
// decided here and by the turns of the teams (domain/teams/turns.ts).
import { sql } from 'drizzle-orm'
import type { JobHandOver } from '../../domain/jobs/dispatch.js'
import { type DbOrTx, listText } from '../client.js'
import { statement } from '../statement.js'
import { backends } from '../tables/backends.js'
import { jobs, outbox } from '../tables/jobs.js'

/** A team's next direct job. */
export interface DirectStart extends JobHandOver {
  teamId: string
  /** `null`: its backend has none. */
  engine: string | null
  /** How many direct jobs of the team all workers have claimed. */
  claimed: number
}

/**
 * The next job of each team that has a delivered direct start.
 * @param entry the job of the queue's entry. It counts before the note of its delivery is written.
 * @param except jobs that are being claimed.
 * @param notFor engines whose jobs are left out.
 */
export async function nextDirectStarts(
  db: DbOrTx,
  entry: string,
  except: readonly string[] = [],
  notFor: readonly string[] = []
): Promise<DirectStart[]> {
  return directStarts(db, { entry, except: listText(except), notFor: listText(notFor) })
}

const directStarts = statement<
  { entry: string; except: string; notFor: string },
  DirectStart & Record<string, unknown>
>(({ entry, except, notFor }) => {
  const delivered = sql`kind = 'start' and deliveries > 0 and mode = 'direct'`
  // Lists are passed as one text: for a list of known length, Postgres would make a plan for each length.
  const free = sql`due_at <= now() and held_reason is null
      and not (job_id = any(string_to_array((select ${except}::text), ',')::uuid[]))
      and not (backend = any(array(select slug from ${backends}
        where engine = any(string_to_array((select ${notFor}::text), ',')))))`
  // Steps from team to team by the index, not from row to row.
  return sql`
      with recursive team as (
          (select team_id from ${outbox} where ${delivered} order by team_id limit 1)
          union all
          select (select team_id from ${outbox} where ${delivered} and team_id > team.team_id order by team_id limit 1)
          from team where team_id is not null),
        start as (
          select first.* from team cross join lateral (
            select job_id, generation, team_id from ${outbox}
            where team_id >= team.team_id and team_id <= team.team_id and ${delivered} and ${free}
            order by team_id, mode, job_id limit 1) first
          where team.team_id is not null
          union
          select job_id, generation, team_id from ${outbox}
          where job_id = ${entry} and kind = 'start' and mode = 'direct' and ${free}),
        claims as (
          select team_id, count(*)::int as claimed from ${jobs}
          where lease_token is not null and status in ('running', 'cancelling') group by team_id)
      select distinct on (team_id) job_id as "jobId", generation, team_id as "teamId", coalesce(claimed, 0) as claimed,
        (select engine from ${backends} join ${jobs} on ${jobs.backend} = ${backends.slug}
          where ${jobs.id} = start.job_id) as engine
      from start left join claims using (team_id) order by team_id, job_id`
})

/** Whether no worker has claimed the job yet. */
export async function isToStart(db: DbOrTx, jobId: string): Promise<boolean> {
  const rows = await db.execute(sql`select 1 from ${outbox} where job_id = ${jobId} and kind = 'start'`)
  return rows.length > 0
}
