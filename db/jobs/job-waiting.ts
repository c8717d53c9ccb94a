// What the record of a job says of its waiting, as parts of the statement that reads the record: its start in the outbox,
// and its tasks at providers.
import { type SQL, sql } from 'drizzle-orm'
import type { ProviderJobState } from '../../domain/backends/provider-job.js'
import type { DeferralReason } from '../../domain/jobs/queue-reason.js'
import { jobs, outbox } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'

/** A place in a queue is counted no further than a user would read. */
const PLACES_MAX = 1_000

export interface Waiting {
  held: DeferralReason | null
  /** The engine that starts the job cannot be reached at present. */
  unreachable: boolean
  /** How many wait for the same and came earlier. */
  ahead: number
}

const earlierHeld = (condition: SQL): SQL => sql`(select count(*)::int from (
  select 1 from ${outbox} other where ${condition} and other.job_id < start.job_id limit ${PLACES_MAX}) earlier)`

/** Of a job that has not begun; `null` of any other. */
export const waitingOfJob = sql<Waiting | null>`(
  select json_build_object('held', start.held_reason, 'unreachable', start.unreachable_since is not null, 'ahead',
    case start.held_reason
      when 'concurrency_limit'
        then ${earlierHeld(sql`other.held_reason = 'concurrency_limit' and other.team_id = start.team_id`)}
      when 'backend_offline'
        then ${earlierHeld(sql`other.held_reason = 'backend_offline' and other.backend = start.backend`)}
      when 'earlier_task' then 0
      -- Of the nearest ones, so that a long line of held jobs costs a reader nothing.
      else (select count(*)::int from (
        select * from ${outbox} near where near.job_id < start.job_id order by near.job_id desc limit ${PLACES_MAX}) other
        where other.kind = 'start' and other.mode = start.mode and other.held_reason is null and other.due_at <= now()) end)
  from ${outbox} start where start.job_id = ${jobs.id} and start.kind = 'start' and ${jobs.status} = 'pending')`

/** A task at a provider; times as ISO 8601, micro-USD as text. */
export interface ProviderJob {
  provider: string
  id: string | null
  state: ProviderJobState
  /** What was last noted of an accepted task. */
  status: string | null
  submittedAt: string | null
  endedAt: string | null
  queuePosition: number | null
  predictedWaitSeconds: number | null
  cost: string | null
}

/** All of a job's tasks at providers, also those that are not accepted yet. */
export const providerJobsOfJob = sql<ProviderJob[]>`(
  select coalesce(json_agg(json_build_object(
    'provider', provider, 'id', provider_job_id, 'state', state, 'status', provider_status,
    'submittedAt', coalesce(accepted_at, last_sent_at), 'endedAt', ended_at, 'queuePosition', queue_position,
    'predictedWaitSeconds', predicted_wait_seconds, 'cost', cost_micro::text) order by task, attempt), '[]')
  from ${providerJobs} where job_id = ${jobs.id})`
