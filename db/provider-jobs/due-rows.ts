// Provider jobs that are due for a query to their provider, whatever for.
import { and, isNotNull, lte, sql } from 'drizzle-orm'
import type { Db } from '../client.js'
import { now } from '../clock.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'

type TimeColumn = typeof providerJobs.askAt | typeof providerJobs.usageAskAt

/** The oldest of each team, then the next of each. */
function byTurns({ name }: TimeColumn, limit: number) {
  const due = sql`waiting.${sql.identifier(name)}`
  return sql`
  select job_id, task, attempt from (
    select waiting.job_id, waiting.task, waiting.attempt, ${due} as due_at,
      row_number() over (partition by ${jobs.teamId} order by ${due}) as place
    from ${providerJobs} waiting join ${jobs} on ${jobs.id} = waiting.job_id
    where ${due} is not null and ${due} <= ${now}) due
  order by place, due_at limit ${limit}`
}

/** A subquery that locks those whose time in the column has come. */
export const lockDue = (db: Db, column: TimeColumn, limit: number) =>
  db
    .select({ jobId: providerJobs.jobId, task: providerJobs.task, attempt: providerJobs.attempt })
    .from(providerJobs)
    .where(
      and(
        isNotNull(column),
        lte(column, now),
        sql`(${providerJobs.jobId}, ${providerJobs.task}, ${providerJobs.attempt}) in (${byTurns(column, limit)})`
      )
    )
    .limit(limit)
    .for('update', { skipLocked: true })
    .as('due')
