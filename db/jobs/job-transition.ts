// The only writer of a job's status. One conditional UPDATE along the table of domain/jobs/job-status.ts raises the
// job's event counter, and the same statement appends the event. Steps can run twice after a crash, so the result shows
// whether this call changed the job, an earlier call of the same writer did, or another writer has the job.

import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { isFinal, type JobStatus, statusesBefore } from '../../domain/jobs/job-status.js'
import { eventOfStatus } from '../../domain/teams/webhook.js'
import type { DbOrTx } from '../client.js'
import { now } from '../clock.js'
import type { Given } from '../statement.js'
import { jobEvents, jobPoints, jobs, outbox } from '../tables/jobs.js'
import { hasSubscriber, recordEnd } from '../teams/webhook-deliveries.js'
import { releaseNextDeferred } from './deferred-starts.js'
import { type Fence, fenceHolds, type GivenFence } from './fence.js'
import { recordMail } from './job-mails.js'
import { queueStatusChange, type StatusChange } from './status-changes.js'

export type Transition = 'won' | 'already_mine' | 'lost'

export type JobChange = PgUpdateSetSource<typeof jobs>

/** What the same statement writes with a change of the status. It must write nothing when `where` prevents the change. */
export interface Accompanied {
  /** Common table expressions in front of the change, each followed by a comma. */
  before: SQL
  /** As `before`; they append events by `moved.id` with the numbers below `moved.event_seq`. */
  after: SQL
  /** How many events they append. */
  events: number
}

/** Which change of a status is allowed, and what is written with it. */
export interface Change {
  fence?: GivenFence
  reason?: string | null
  set?: JobChange
  where?: SQL
  /** The outbox row that the status makes obsolete, where it is not final. */
  clears?: 'start'
  accompanied?: Accompanied
}

/**
 * Changes the status of a job to `to`. Without a fence (cancel, sweeps) only the current status decides. A final status must
 * be reached in a transaction. A final status clears the lease and the outbox, notifies the team's webhooks, records the mail that the
 * submitter requested, releases the team's next deferred job, and removes the points of a sweep, which its result has by
 * then. It is one statement, since every job passes here three times, plus one for each of the rare rest: a cancel, a sweep, a
 * webhook that subscribes.
 * @param wantsCapsule called when this call changed the job and its submitter requested a capsule of it.
 */
export async function transition(
  tx: DbOrTx,
  jobId: string,
  to: JobStatus,
  { wantsCapsule, ...change }: Change & { fence?: Fence; wantsCapsule?: () => void } = {}
): Promise<Transition> {
  const moved = await tx.execute<MovedRow>(transitionText(tx, jobId, to, change))
  return afterTransition(tx, jobId, to, moved, { fence: change.fence, wantsCapsule })
}

/** The statement of a transition. After it, `afterTransition` must be called with its rows. */
export function transitionText(
  on: DbOrTx,
  jobId: Given<string>,
  to: JobStatus,
  { fence, reason = null, set = {}, where, clears, accompanied }: Change
): SQL {
  const move = on
    .update(jobs)
    .set({
      ...set,
      ...(isFinal(to) ? { completedAt: now, leaseToken: null, leaseExpiresAt: null } : {}),
      status: to,
      statusReason: reason,
      statusGeneration: fence ? sql`${fence.generation}` : null,
      eventSeq: sql`${jobs.eventSeq} + ${1 + (accompanied?.events ?? 0)}::int`,
      missingSince: null,
      workflowFailingSince: null,
      updatedAt: now
    })
    .where(and(eq(jobs.id, jobId), inArray(jobs.status, statusesBefore(to)), fenceHolds(fence), where))
    .returning(movedColumns)
  const needless = isFinal(to) ? sql`true` : clears ? sql`${outbox.kind} = ${clears}` : sql`false`
  const event = eventOfStatus[to]
  const atTheEnd = sql`, mailed as (${recordMail(sql`moved`)}), released as (${releaseNextDeferred(sql`moved`)})`
  return sql`
    with ${accompanied?.before ?? sql.empty()}moved as ${move},
      ${accompanied?.after ?? sql.empty()}appended as (insert into ${jobEvents} (job_id, seq, type, status, reason)
        select id, event_seq, 'status', ${to}, ${reason} from moved),
      cleared as (delete from ${outbox} where ${outbox.jobId} in (select id from moved) and ${needless})
      ${isFinal(to) ? atTheEnd : sql.empty()}
    select ${event ? hasSubscriber(event, sql`moved.team_id`) : sql`false`} as wanted,
      ${isFinal(to) ? sql`exists (select from released)` : sql`false`} as released_next,
      (cancel_requested_at is not null or generation > 1) as late_rows, points_total is not null as is_sweep,
      ${statusChangeColumns} from moved`
}

/** Writes the rare rest of a transition, and reports it. @param rows of its statement. */
export async function afterTransition(
  tx: DbOrTx,
  jobId: string,
  to: JobStatus,
  [moved]: MovedRow[],
  { fence, wantsCapsule }: { fence?: Fence; wantsCapsule?: () => void }
): Promise<Transition> {
  if (moved) {
    const event = eventOfStatus[to]
    // That statement did not see rows that were inserted while it waited for the job's lock: a cancel, a new workflow, the
    // points of a batch.
    if (isFinal(to) && moved.late_rows) await tx.delete(outbox).where(eq(outbox.jobId, jobId))
    if (isFinal(to) && moved.is_sweep) await tx.delete(jobPoints).where(eq(jobPoints.jobId, jobId))
    if (event && moved.wanted) await recordEnd(tx, jobId, event)
    if (moved.create_capsule) wantsCapsule?.()
    queueStatusChange(tx, () => toStatusChange(jobId, to, moved))
    return 'won'
  }
  if (!fence) return 'lost'
  const [row] = await tx
    .select({ status: jobs.status, by: jobs.statusGeneration, generation: jobs.generation, lease: jobs.leaseToken })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  const mine =
    row?.status === to &&
    row.by === fence.generation &&
    row.generation === fence.generation &&
    sameLease(row.lease, fence, to)
  return mine ? 'already_mine' : 'lost'
}

const movedColumns = {
  id: jobs.id,
  seq: jobs.eventSeq,
  teamId: jobs.teamId,
  capsuleRunId: jobs.capsuleRunId,
  requestId: jobs.requestId,
  mode: jobs.mode,
  backend: jobs.backend,
  generation: jobs.generation,
  notify: jobs.notify,
  errorCode: jobs.errorCode,
  actualCost: jobs.actualCost,
  notBefore: jobs.notBefore,
  createCapsule: jobs.createCapsule,
  cancelRequestedAt: jobs.cancelRequestedAt,
  pointsTotal: jobs.pointsTotal,
  createdAt: jobs.createdAt,
  startedAt: jobs.startedAt,
  completedAt: jobs.completedAt
}

// `moved` has the column names of the table.
const statusChangeColumns =
  sql.raw(`team_id, capsule_run_id, create_capsule, request_id, execution_mode, backend, generation, error_code,
  actual_cost_micro,
  extract(epoch from started_at - greatest(created_at, not_before))::float8 as queued_seconds,
  extract(epoch from completed_at - started_at)::float8 as ran_seconds`)

export interface MovedRow extends Record<string, unknown> {
  late_rows: boolean
  is_sweep: boolean
  released_next: boolean
  wanted: boolean
  team_id: string
  capsule_run_id: string | null
  create_capsule: boolean
  request_id: string | null
  execution_mode: StatusChange['mode']
  backend: string
  generation: number
  error_code: StatusChange['errorCode']
  /** A bigint, which the driver returns as text. */
  actual_cost_micro: string | null
  queued_seconds: number | null
  ran_seconds: number | null
}

const toStatusChange = (jobId: string, to: JobStatus, row: MovedRow): StatusChange => ({
  jobId,
  teamId: row.team_id,
  capsuleRunId: row.capsule_run_id,
  requestId: row.request_id,
  to,
  mode: row.execution_mode,
  backend: row.backend,
  generation: row.generation,
  errorCode: row.error_code,
  cost: row.actual_cost_micro === null ? null : BigInt(row.actual_cost_micro),
  queuedSeconds: row.queued_seconds,
  ranSeconds: row.ran_seconds,
  releasedNext: row.released_next
})

// A final status has cleared its lease; generation and status together are then the proof.
const sameLease = (lease: string | null, fence: Fence, to: JobStatus): boolean =>
  isFinal(to) || (fence.lease ?? null) === lease
