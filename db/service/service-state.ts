// The state of the whole service: what waits and for how long, what runs, when each sweep last succeeded. It is queried
// every few seconds, so it reads the outbox and the index of open jobs, never all jobs.

import { sql } from 'drizzle-orm'
import type { DispatchKind } from '../../domain/jobs/dispatch.js'
import type { ExecutionMode, JobStatus } from '../../domain/jobs/job-status.js'
import type { DbOrTx } from '../client.js'
import { jobs, outbox } from '../tables/jobs.js'
import { sweeps } from '../tables/operations.js'

export interface ServiceState {
  /**
   * Waiting jobs by the dispatch target that runs them (Temporal for all jobs at providers) and by what they wait for;
   * `ready` jobs wait only for their turn. `oldestSeconds` counts from when they were due.
   */
  waiting: { engine: ExecutionMode; reason: string; jobs: number; oldestSeconds: number }[]
  underWay: { engine: ExecutionMode; status: JobStatus; jobs: number }[]
  /** `lateSeconds`: how long the row that has waited longest for the relay has been due; 0 when none is. */
  outbox: { kind: DispatchKind; rows: number; lateSeconds: number }[]
  /** `successSeconds`: since its last successful pass; `null` when there was none. */
  sweeps: { name: string; successSeconds: number | null; findings: number }[]
}

export async function serviceState(db: DbOrTx): Promise<ServiceState> {
  const since = (time: unknown) => sql`greatest(0, extract(epoch from clock_timestamp() - ${time}))::float8`
  // Sequential, so that a check of the service uses one connection instead of four.
  const waiting = await db.execute<ServiceState['waiting'][number]>(sql`
    select engine, reason, count(*)::int as jobs, ${since(sql`min(due_at)`)} as "oldestSeconds"
    from (select mode as engine, due_at, case when held_reason = 'earlier_task' then held_reason
        when due_at > clock_timestamp() then 'not_before'
        when unreachable_since is not null then 'engine_unavailable' else coalesce(held_reason, 'ready') end as reason
      from ${outbox} where kind = 'start') waiting
    group by engine, reason`)
  const underWay = await db.execute<ServiceState['underWay'][number]>(sql`
    select case when durable then 'temporal' else 'direct' end as engine, status, count(*)::int as jobs
    from ${jobs} where status in ('running', 'cancelling') group by durable, status`)
  const outboxRows = await db.execute<ServiceState['outbox'][number]>(sql`
    select kind, count(*)::int as rows, ${since(sql`min(next_at)`)} as "lateSeconds" from ${outbox} group by kind`)
  const passes = await db.execute<ServiceState['sweeps'][number]>(sql`
    select name, case when succeeded_at is null then null else ${since(sql`succeeded_at`)} end as "successSeconds",
      jsonb_array_length(findings) as findings
    from ${sweeps}`)
  return { waiting, underWay, outbox: outboxRows, sweeps: passes }
}
