// Hands jobs to their engine: an entry in the direct queue, or a workflow. Used by the api right after its answer (the
// nudge) and by every worker's relay (the guarantee). Delivering twice is harmless; every call has a deadline.
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
  searchAttributes,
  workflowIdOf,
  workflowSummary
} from '../../domain/jobs/dispatch.js'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import type { Tracing } from '../telemetry/tracing.js'

/** Between a slow engine and a relay that stands still. */
const DEADLINE_MS = 2_000

export interface DispatchDeps {
  db: Db
  temporal: Client
  taskQueue: string
  queue: Queue<JobHandOver>
  announce: AnnounceJob
  tracing?: Tracing | null
}

/** `delivered` now; `held`: the engine still has an earlier delivery; `unreachable`: it did not answer in time. */
export type Delivery = 'delivered' | 'held' | 'unreachable'

export interface Dispatcher {
  /** One answer per row, in order. Rows of both modes and kinds may be mixed. */
  deliver(rows: OutboxRow[]): Promise<Delivery[]>
}

export function createDispatcher(deps: DispatchDeps): Dispatcher {
  return {
    async deliver(rows) {
      const direct = rows.filter((row) => row.mode === 'direct' && row.kind === 'start')
      const starts = rows.filter((row) => row.mode === 'temporal' && row.kind === 'start')
      const cancels = rows.filter((row) => row.kind === 'cancel')
      const answers = new Map<OutboxRow, Delivery>()
      await Promise.all([
        enqueue(deps, direct, answers),
        startWorkflows(deps, starts, answers),
        cancelAll(deps, cancels, answers)
      ])
      return rows.map((row) => answers.get(row) ?? 'unreachable')
    }
  }
}

async function enqueue({ queue }: DispatchDeps, rows: OutboxRow[], answers: Map<OutboxRow, Delivery>): Promise<void> {
  if (rows.length === 0) return
  try {
    const fresh: OutboxRow[] = []
    for (const row of rows)
      if (row.deliveries > 0 && (await isQueued(queue, row))) answers.set(row, 'held')
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
    for (const row of fresh) answers.set(row, 'delivered')
  } catch {
    // Whatever is not answered counts as unreachable.
  }
}

const queuedStates = new Set(['waiting', 'active', 'delayed', 'prioritized'])

const isQueued = async (queue: Queue<JobHandOver>, row: OutboxRow): Promise<boolean> =>
  queuedStates.has(await inTime(queue.getJobState(queueEntryIdOf(row.jobId, row.deliveries))))

async function startWorkflows(deps: DispatchDeps, rows: OutboxRow[], answers: Map<OutboxRow, Delivery>): Promise<void> {
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
      if (!label) return
      const start = () =>
        withDeadline(deps.temporal, () =>
          deps.temporal.workflow.start(label.atProvider ? RUN_JOB_AT_PROVIDER_WORKFLOW : RUN_JOB_WORKFLOW, {
            args: [{ jobId: row.jobId, generation: row.generation }],
            taskQueue: deps.taskQueue,
            workflowId: workflowIdOf(row.jobId, row.generation),
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            staticSummary: workflowSummary(label.backend, label.name),
            typedSearchAttributes: new TypedSearchAttributes([
              { key: keyword(searchAttributes.team), value: label.teamId },
              { key: keyword(searchAttributes.backend), value: label.backend },
              { key: keyword(searchAttributes.mode), value: label.mode },
              // A workflow exists to run its job; writing it at the start saves every job an event and an index entry.
              { key: keyword(searchAttributes.status), value: 'running' satisfies JobStatus }
            ])
          })
        )
      try {
        await (deps.tracing ? deps.tracing.within(label.traceParent, start) : start())
        answers.set(row, row.deliveries > 0 ? 'held' : 'delivered')
      } catch (error) {
        // A closed workflow of this id was delivered; whether its job still needs one is for the sweep to find out.
        if (error instanceof WorkflowExecutionAlreadyStartedError) answers.set(row, 'held')
      }
    })
  )
}

async function cancelAll(deps: DispatchDeps, rows: OutboxRow[], answers: Map<OutboxRow, Delivery>): Promise<void> {
  await Promise.all(
    rows.map(async (row) => {
      // A direct job's worker hears of it by the notice, and at its next renewal of the lease at the latest.
      if (row.mode === 'direct') {
        deps.announce(row.jobId)
        answers.set(row, 'delivered')
        return
      }
      try {
        await withDeadline(deps.temporal, () =>
          deps.temporal.workflow.getHandle(workflowIdOf(row.jobId, row.generation)).cancel()
        )
        answers.set(row, 'delivered')
      } catch (error) {
        // Without a workflow there is nothing to tell; the sweep gives the job one that ends it.
        if (error instanceof WorkflowNotFoundError) answers.set(row, 'held')
      }
    })
  )
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD)

const withDeadline = <T>(client: Client, call: () => Promise<T>): Promise<T> =>
  client.withDeadline(Date.now() + DEADLINE_MS, call)

/** Redis commands queue up while it is away; a late success is a second delivery, which is harmless. */
const inTime = <T>(promise: Promise<T>): Promise<T> =>
  pTimeout(promise, { milliseconds: DEADLINE_MS, message: `no answer within ${DEADLINE_MS} ms` })
