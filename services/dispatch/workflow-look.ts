// What Temporal says of the workflow of a job: whether a worker can still bring it to its end, and what keeps it from that.
import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client'
import { NOT_YET } from '../../domain/jobs/dispatch.js'
import { QUIET_TRIES } from '../../domain/operations/error-kind.js'
import { hasWorkers } from './build-workers.js'

export const CALL_DEADLINE_MS = 2_000

export type WorkflowLook =
  | {
      state: 'running'
      /** Activities that have failed more than `QUIET_TRIES` times. */
      repeated: RepeatedStep[]
      /** The workflow's own code fails at each try: no timer and no activity of it goes on. */
      failing: FailingTask | null
    }
  /** By an operator. The server's own termination, at the limit of a history, is `closed`. */
  | { state: 'terminated' }
  | { state: 'closed' }
  /** It has failed because the code of the workers no longer matches its history. */
  | { state: 'outdated' }
  /** It waits for workers of a version of which there are none. */
  | { state: 'abandoned'; build: string }
  | { state: 'missing' }

export interface RepeatedStep {
  step: string
  attempt: number
  reason: string
}

export interface FailingTask {
  attempt: number
  reason: string
}

/** @throws what the client throws while Temporal is away. */
export async function lookAtWorkflow(temporal: Client, workflowId: string): Promise<WorkflowLook> {
  try {
    const described = await inTime(temporal, () => temporal.workflow.getHandle(workflowId).describe())
    const { status, runId } = described
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW')
      return await lookAtRunning(temporal, workflowId, described)
    if (status.name === 'TERMINATED')
      return { state: (await endedByServer(temporal, workflowId, runId)) ? 'closed' : 'terminated' }
    if (status.name === 'FAILED' && (await failedByItsHistory(temporal, workflowId, runId)))
      return { state: 'outdated' }
    return { state: 'closed' }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'missing' }
    throw error
  }
}

async function lookAtRunning(
  temporal: Client,
  workflowId: string,
  { raw, runId }: WorkflowExecutionDescription
): Promise<WorkflowLook> {
  const build = await buildWithoutWorkers(temporal, raw)
  if (build !== null) return { state: 'abandoned', build }
  const attempt = raw.pendingWorkflowTask?.attempt ?? 0
  const failing =
    attempt < FAILING_TRIES ? null : { attempt, reason: await lastTaskFailure(temporal, workflowId, runId) }
  return { state: 'running', repeated: repeatedSteps(raw), failing }
}

/** Without the steps that only wait: they are repeated too, and their failure says so. */
export const repeatedSteps = ({
  pendingActivities
}: Pick<WorkflowExecutionDescription['raw'], 'pendingActivities'>): RepeatedStep[] =>
  (pendingActivities ?? [])
    .filter(
      ({ attempt, lastFailure }) =>
        (attempt ?? 0) > QUIET_TRIES && lastFailure && lastFailure.applicationFailureInfo?.type !== NOT_YET
    )
    .map(({ activityType, attempt, lastFailure }) => ({
      step: activityType?.name ?? 'unknown',
      attempt: attempt!,
      reason: lastFailure?.message ?? ''
    }))

/** A worker that ended during a task is one failure of it, and is nothing to report. */
const FAILING_TRIES = 3
const EVENTS_READ = 50

/** The server keeps the first of several failures that follow each other. */
async function lastTaskFailure(temporal: Client, workflowId: string, runId: string): Promise<string> {
  const { history } = await inTime(temporal, () =>
    temporal.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: temporal.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: EVENTS_READ
    })
  )
  const failed = history?.events?.find(({ workflowTaskFailedEventAttributes }) => workflowTaskFailedEventAttributes)
  return failed?.workflowTaskFailedEventAttributes?.failure?.message ?? 'the server states no reason'
}

const VERSIONING_PINNED = 1

/** The version to which a workflow is pinned, where no worker of that version has asked for work lately. */
async function buildWithoutWorkers(
  temporal: Client,
  { workflowExecutionInfo: info }: WorkflowExecutionDescription['raw']
): Promise<string | null> {
  const { behavior, deploymentVersion } = info?.versioningInfo ?? {}
  const queue = info?.taskQueue
  if (behavior !== VERSIONING_PINNED || !deploymentVersion?.buildId || !queue) return null
  const { buildId } = deploymentVersion
  return (await inTime(temporal, () => hasWorkers(temporal, queue, buildId))) ? null : buildId
}

/** As the server's history service signs a termination of its own. */
const SERVER_IDENTITY = 'history-service'
/** The reasons of such terminations: the number of events, the size of the history, the size of the state. */
const serverReason = /exceeds limit/i

/** Whether the server itself terminated a workflow, since its history had reached a limit. */
async function endedByServer(temporal: Client, workflowId: string, runId: string): Promise<boolean> {
  const terminated = (await closeEvent(temporal, workflowId, runId))?.workflowExecutionTerminatedEventAttributes
  return terminated?.identity === SERVER_IDENTITY || serverReason.test(terminated?.reason ?? '')
}

/** Whether a worker failed a workflow since its code does not do what the history says (`historyErrors`). */
async function failedByItsHistory(temporal: Client, workflowId: string, runId: string): Promise<boolean> {
  const failed = (await closeEvent(temporal, workflowId, runId))?.workflowExecutionFailedEventAttributes
  const { message, applicationFailureInfo } = failed?.failure ?? {}
  return HISTORY_ERROR.test(message ?? '') || historyErrors.some((name) => name === applicationFailureInfo?.type)
}

/** The failure by which a worker reports that code and history differ; it has no type. */
const HISTORY_ERROR = /^\[TMPRL1100\]/

/** With these a worker fails a workflow, instead of trying its task again for ever: Postgres has the state of its job. */
export const historyErrors = ['NondeterminismError', 'DeterminismViolationError'] as const

async function closeEvent(temporal: Client, workflowId: string, runId: string) {
  const { history } = await inTime(temporal, () =>
    temporal.workflowService.getWorkflowExecutionHistory({
      namespace: temporal.options.namespace,
      execution: { workflowId, runId },
      historyEventFilterType: CLOSE_EVENT
    })
  )
  return history?.events?.at(-1)
}

/** HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT */
const CLOSE_EVENT = 2

const inTime = <T>(temporal: Client, call: () => Promise<T>): Promise<T> =>
  temporal.withDeadline(Date.now() + CALL_DEADLINE_MS, call)
