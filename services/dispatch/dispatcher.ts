// Hands jobs to their dispatch target: an entry in the direct queue, or a workflow. Used by the api right after its response
// (the nudge) and by every worker's relay (the guarantee). Delivering twice is harmless; every call has a deadline.
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client'
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common'
import type { Queue } from 'bullmq'
import pTimeout from 'p-timeout'
import type { Db } from '../../db/client.js'
import type { OutboxRow } from '../../db/job-steps/outbox.js'
import type { AnnounceJob } from '../../db/jobs/job-changes.js'
import { loadStartLabels } from '../../db/jobs/jobs.js'
import {
  type JobHandOver,
  queueEntryIdOf,
  RUN_JOB_AT_PROVIDER_WORKFLOW,
  RUN_JOB_WORKFLOW,
  type SearchAttributes,
  workflowIdOf,
  workflowSummary
} from '../../domain/jobs/dispatch.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { Tracing } from '../telemetry/tracing.js'
import { createTargetFaults, type DispatchTarget, type FaultKind, type TargetFaults } from './target-faults.js'

/** Long enough for a slow target, short enough for the relay to continue. */
const DEADLINE_MS = 2_000

export interface DispatchDeps {
  db: Db
  temporal: Client
  taskQueue: string
  searchAttributes: SearchAttributes
  queue: Queue<JobHandOver>
  announce: AnnounceJob
  tracing?: Tracing | null
  log: Parameters<typeof createTargetFaults>[0]
}

/** `duplicate`: the target still has an earlier delivery. */
export type Delivery = 'delivered' | 'duplicate' | FaultKind

export interface Dispatcher {
  /** One outcome per row, in order. Rows of both modes and kinds can be mixed. */
  deliver(rows: OutboxRow[]): Promise<Delivery[]>
  /** What a target refuses now, in words for an operator. */
  refusals(target: DispatchTarget): string[]
}

type Means = DispatchDeps & { faults: TargetFaults }

export function createDispatcher(given: DispatchDeps): Dispatcher {
  const faults = createTargetFaults(given.log)
  const deps = { ...given, faults }
  return {
    refusals: faults.refusals,
    async deliver(rows) {
      const direct = rows.filter((row) => row.mode === 'direct' && row.kind === 'start')
      const starts = rows.filter((row) => row.mode === 'temporal' && row.kind === 'start')
      const cancels = rows.filter((row) => row.kind === 'cancel')
      const outcomes = new Map<OutboxRow, Delivery>()
      await Promise.all([
        enqueue(deps, direct, outcomes),
        startWorkflows(deps, starts, outcomes),
        cancelAll(deps, cancels, outcomes)
      ])
      return rows.map((row) => outcomes.get(row)!)
    }
  }
}

async function enqueue({ queue, faults }: Means, rows: OutboxRow[], outcomes: Map<OutboxRow, Delivery>): Promise<void> {
  if (rows.length === 0) return
  try {
    const fresh: OutboxRow[] = []
    for (const row of rows)
      if (row.deliveries > 0 && (await isQueued(queue, row))) outcomes.set(row, 'duplicate')
      else fresh.push(row)
    await inTime(
      queue.addBulk(
        fresh.map(({ jobId, generation, deliveries }) => ({
          name: 'run',
          data: { jobId, generation },
          opts: { jobId: queueEntryIdOf(jobId, deliveries + 1) }
        }))
      )
    )
    for (const row of fresh) outcomes.set(row, 'delivered')
  } catch (error) {
    const fault = faults.record('Redis', error)
    for (const row of rows) if (!outcomes.has(row)) outcomes.set(row, fault)
  }
}

const queuedStates = new Set(['waiting', 'active', 'delayed', 'prioritized'])

const isQueued = async (queue: Queue<JobHandOver>, row: OutboxRow): Promise<boolean> =>
  queuedStates.has(await inTime(queue.getJobState(queueEntryIdOf(row.jobId, row.deliveries))))

async function startWorkflows(deps: Means, rows: OutboxRow[], outcomes: Map<OutboxRow, Delivery>): Promise<void> {
  if (rows.length === 0) return
  const labels = new Map(
    (
      await loadStartLabels(
        deps.db,
        rows.map((row) => row.jobId)
      )
    ).map((label) => [label.jobId, label])
  )
  await Promise.all(
    rows.map(async (row) => {
      const label = labels.get(row.jobId)
      // The job was deleted, and its row with it.
      if (!label) return outcomes.set(row, 'duplicate')
      const start = () =>
        withDeadline(deps.temporal, () =>
          deps.temporal.workflow.start(label.atProvider ? RUN_JOB_AT_PROVIDER_WORKFLOW : RUN_JOB_WORKFLOW, {
            args: [{ jobId: row.jobId, generation: row.generation }],
            taskQueue: deps.taskQueue,
            workflowId: workflowIdOf(row.jobId, row.generation),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            staticSummary: workflowSummary(label),
            typedSearchAttributes: new TypedSearchAttributes([
              { key: keyword(deps.searchAttributes.team), value: label.teamId },
              { key: keyword(deps.searchAttributes.backend), value: label.backend },
              { key: keyword(deps.searchAttributes.mode), value: label.mode },
              // A workflow exists to run its job; setting the status here saves every job an event and an index entry.
              { key: keyword(deps.searchAttributes.status), value: 'running' satisfies JobStatus }
            ])
          })
        )
      try {
        await (deps.tracing ? deps.tracing.within(label.traceParent, start) : start())
        outcomes.set(row, row.deliveries > 0 ? 'duplicate' : 'delivered')
      } catch (error) {
        // A closed workflow of this id was delivered; the sweep finds out whether its job needs another. Unless the
        // row counts as delivered (the database may be a restored one, that does not know), the sweep leaves it alone.
        const isThere = error instanceof WorkflowExecutionAlreadyStartedError
        const there = row.deliveries > 0 ? 'duplicate' : 'delivered'
        outcomes.set(row, isThere ? there : deps.faults.record('Temporal', error))
      }
    })
  )
}

async function cancelAll(deps: Means, rows: OutboxRow[], outcomes: Map<OutboxRow, Delivery>): Promise<void> {
  await Promise.all(
    rows.map(async (row) => {
      // The worker of a direct job learns of it by the notification, at the latest with the next renewal of its lease.
      if (row.mode === 'direct') {
        deps.announce(row.jobId)
        outcomes.set(row, 'delivered')
        return
      }
      try {
        await withDeadline(deps.temporal, () =>
          deps.temporal.workflow.getHandle(workflowIdOf(row.jobId, row.generation)).cancel()
        )
        outcomes.set(row, 'delivered')
      } catch (error) {
        // There is no workflow to cancel; the sweep starts one that ends the job.
        const isGone = error instanceof WorkflowNotFoundError
        outcomes.set(row, isGone ? 'duplicate' : deps.faults.record('Temporal', error))
      }
    })
  )
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)

const withDeadline = <T>(client: Client, call: () => Promise<T>): Promise<T> =>
  client.withDeadline(Date.now() + DEADLINE_MS, call)

/** Redis commands queue up while Redis is away; a late success is a second delivery, which is harmless. */
const inTime = <T>(promise: Promise<T>): Promise<T> =>
  pTimeout(promise, { milliseconds: DEADLINE_MS, message: `no answer within ${DEADLINE_MS} ms` })
