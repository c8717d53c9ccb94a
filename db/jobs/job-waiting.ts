// Why a job waits, as parts of the statement that reads its record: its start in the outbox, and its provider jobs.
import { type SQL, sql } from 'drizzle-orm'
import type { ProviderJobState } from '../../domain/backends/provider-job.js'
import type { DeferralReason } from '../../domain/jobs/queue-reason.js'
import { jobs, outbox } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'

/** A queue position is counted no further than a user would read. */
const PLACES_MAX = 1_000

const beginsDirect = sql`kind = 'start' and deliveries > 0 and mode = 'direct'`

export interface Waiting {
  held: DeferralReason | null
  /** The dispatch target cannot be reached at present. */
  unreachable: boolean
  /** How many earlier jobs wait for the same thing. */
  ahead: number
}

const earlierDeferred = (condition: SQL): SQL => sql`(select count(*)::int from (
  select 1 from ${outbox} other where ${condition} and other.job_id < start.job_id limit ${PLACES_MAX}) earlier)`

/**
 * The delivered direct jobs that begin before `start`: the team's own earlier jobs, and as many of every other team, since
 * teams take turns (apps/worker/direct/claim-turns.ts).
 */
const earlierByTurns = sql`(
  with recursive own as (select count(*)::int as earlier from (
      select 1 from ${outbox} where team_id >= start.team_id and team_id <= start.team_id and ${beginsDirect}
        and job_id < start.job_id limit ${PLACES_MAX}) mine),
    team as (
      (select team_id from ${outbox} where ${beginsDirect} order by team_id limit 1)
      union all
      select (select team_id from ${outbox} where ${beginsDirect} and team_id > team.team_id order by team_id limit 1)
      from team where team_id is not null)
  select least(${PLACES_MAX}, earlier + (select count(*)::int from (
    select 1 from team cross join lateral (
      select job_id, row_number() over (order by job_id) <= earlier as in_earlier_turn from (
        select job_id from ${outbox} where team_id >= team.team_id and team_id <= team.team_id and ${beginsDirect}
          order by team_id, mode, job_id limit earlier + 1) first) other
    where team.team_id is not null and team.team_id <> start.team_id and (in_earlier_turn or other.job_id < start.job_id)
    limit ${PLACES_MAX}) others)) from own)`

/** For a job that has not started; `null` for any other. */
export const waitingOfJob = sql<Waiting | null>`(
  select json_build_object('held', start.held_reason, 'unreachable', start.unreachable_since is not null, 'ahead',
    case start.held_reason
      when 'concurrency_limit'
        then ${earlierDeferred(sql`other.held_reason = 'concurrency_limit' and other.team_id = start.team_id`)}
      when 'backend_offline'
        then ${earlierDeferred(sql`other.held_reason = 'backend_offline' and other.backend = start.backend`)}
      when 'earlier_task' then 0
      else case when start.mode = 'direct' and start.deliveries > 0 then ${earlierByTurns}
      -- Only the nearest rows are counted, so that a long line of deferred jobs costs a reader nothing.
      else (select count(*)::int from (
        select * from ${outbox} near where near.job_id < start.job_id order by near.job_id desc limit ${PLACES_MAX}) other
        where other.kind = 'start' and other.mode = start.mode and other.held_reason is null and other.due_at <= now()) end end)
  from ${outbox} start where start.job_id = ${jobs.id} and start.kind = 'start' and ${jobs.status} = 'pending')`

/** A provider job. Times are ISO 8601, micro-USD is text. */
export interface ProviderJob {
  provider: string
  id: string | null
  state: ProviderJobState
  /** The status that the provider last reported of an accepted job. */
  status: string | null
  submittedAt: string | null
  endedAt: string | null
  queuePosition: number | null
  predictedWaitSeconds: number | null
  cost: string | null
  /** What it used, in its provider's unit. */
  usage: { amount: number; unit: string } | null
  /** What a reader of its cost must know. */
  note: string | null
  /** The provider was an emulator. */
  emulated: boolean
  /** Why it waits although nothing is wrong with the job; `null` while nothing is wrong with the provider either. */
  waitMessage: string | null
}

/** All provider jobs of a job, including those that are not accepted yet. */
export const providerJobsOfJob = sql<ProviderJob[]>`(
  select coalesce(json_agg(json_build_object(
    'provider', provider, 'id', provider_job_id, 'state', state, 'status', provider_status,
    'submittedAt', coalesce(accepted_at, last_sent_at), 'endedAt', ended_at, 'queuePosition', queue_position,
    'predictedWaitSeconds', predicted_wait_seconds, 'cost', cost_micro::text,
    'usage', case when usage_amount is not null then json_build_object('amount', usage_amount, 'unit', usage_unit) end, 'note', note,
    'emulated', emulated, 'waitMessage', wait_message) order by task, attempt), '[]')
  from ${providerJobs} where job_id = ${jobs.id})`
