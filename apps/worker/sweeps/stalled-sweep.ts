// Finds durable jobs whose workflow is gone: its history was deleted, it failed, timed out, or an operator terminated it.
// Postgres is the truth, so such a job gets a new workflow of the next generation, which continues from the stored state.
import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  markChecked,
  markMissing,
  markWorkflowFound,
  openAmong,
  quietJobs,
  restartWorkflow,
  type StalledJob
} from '../../../db/job-steps/stalled-workflows.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import {
  jobOfWorkflow,
  NOT_YET,
  RUN_JOB_AT_PROVIDER_WORKFLOW,
  RUN_JOB_WORKFLOW,
  workflowIdOf
} from '../../../domain/jobs/dispatch.js'
import { errorKind, QUIET_TRIES } from '../../../domain/operations/error-kind.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'
import type { WorkerTimes } from './times.js'

const JOBS_PER_PASS = 200
const CALL_DEADLINE_MS = 2_000
/** Longer than an outage of all workers usually takes. */
const TERMINATED_WITHIN_MS = 15 * 60_000

export interface StalledSweepDeps {
  db: Db
  temporal: Client
  announce: AnnounceJob
  times: WorkerTimes
  reports: SweepReports
  /** @param step the name of an activity. */
  countRepeatedStep(step: string): void
  log: Logger
}

export function startStalledSweep(deps: StalledSweepDeps): TimerLoop {
  const { db, temporal, times, reports, log } = deps
  async function pass(): Promise<Pass> {
    const quiet = await quietJobs(db, times.quietSeconds, JOBS_PER_PASS)
    // "Not found" proves nothing while the server does not respond for its namespace.
    if (quiet.length > 0 && !(await namespaceResponds(temporal)))
      throw new Error('Temporal does not respond for its namespace')
    const jobs = [...quiet, ...(await terminatedJobs(deps, quiet))]
    const findings: string[] = []
    let unchecked = 0
    for (const job of jobs) {
      // One job whose rows or workflow fail every look must not keep the others from theirs.
      try {
        await checkWorkflow(deps, job)
        await markChecked(db, job.id)
      } catch (error) {
        log.warn({ jobId: job.id, reason: reasonOf(error) }, 'the workflow of a job could not be checked')
        // What was away is looked at again in the next pass.
        unchecked++
        if (errorKind(error) !== 'fault') continue
        findings.push(`job ${job.id}: its workflow could not be checked: ${reasonOf(error)}`)
        await markChecked(db, job.id)
      }
    }
    return { more: quiet.length === JOBS_PER_PASS && unchecked === 0, handled: jobs.length, findings }
  }
  const name = 'stalled_workflows'
  return startLoop(name, times.stalledSweepMs, log, pass, reports.of(name, times.stalledSweepMs))
}

/**
 * The open jobs whose workflow was terminated a short while ago. A job that has been quiet for an hour is next checked
 * after another hour, and an operator who ends it expects to see that at once.
 */
async function terminatedJobs(deps: StalledSweepDeps, known: StalledJob[]): Promise<StalledJob[]> {
  const ended = (await terminatedWorkflows(deps)).flatMap((workflowId) => jobOfWorkflow(workflowId) ?? [])
  const open = ended.length === 0 ? [] : await openAmong(deps.db, ended)
  return open.filter(({ id }) => !known.some((job) => job.id === id))
}

async function terminatedWorkflows({ temporal, log }: StalledSweepDeps): Promise<string[]> {
  const since = new Date(Date.now() - TERMINATED_WITHIN_MS).toISOString()
  try {
    const { executions } = await temporal.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
      temporal.workflowService.listWorkflowExecutions({
        namespace: temporal.options.namespace,
        query: `WorkflowType IN ('${RUN_JOB_WORKFLOW}', '${RUN_JOB_AT_PROVIDER_WORKFLOW}') AND ExecutionStatus = 'Terminated' AND CloseTime > '${since}'`,
        pageSize: JOBS_PER_PASS
      })
    )
    return (executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? [])
  } catch (error) {
    // The check of quiet jobs finds them too, later.
    log.debug({ reason: reasonOf(error) }, 'terminated workflows could not be listed')
    return []
  }
}

async function checkWorkflow(deps: StalledSweepDeps, job: StalledJob): Promise<void> {
  const { db, temporal, announce, times, log } = deps
  const { state, repeated } = await lookAtWorkflow(temporal, workflowIdOf(job.id, job.generation))
  if (state === 'running') {
    for (const { step, attempt, reason } of repeated) {
      deps.countRepeatedStep(step)
      log.warn({ jobId: job.id, step, attempt, reason }, 'a step of a running job is tried again and again')
    }
    return markWorkflowFound(db, job.id)
  }
  if (state === 'missing' && !(await markMissing(db, job.id, job.generation, times.missingConfirmSeconds))) return
  const restart = await restartWorkflow(db, job.id, job.generation, state === 'terminated' ? 'cancelling' : 'same')
  announce(job.id)
  log.warn({ jobId: job.id, generation: job.generation, state, restart }, 'a job had no live workflow')
}

/** `terminated`: by an operator. The server's own termination, at the limit of a history, is `closed`. */
type WorkflowState = 'running' | 'terminated' | 'closed' | 'missing'

interface WorkflowLook {
  state: WorkflowState
  /** Activities that have failed more than `QUIET_TRIES` times. */
  repeated: { step: string; attempt: number; reason: string }[]
}

async function lookAtWorkflow(temporal: Client, workflowId: string): Promise<WorkflowLook> {
  const inTime = <T>(call: () => Promise<T>) => temporal.withDeadline(Date.now() + CALL_DEADLINE_MS, call)
  try {
    const { status, raw, runId } = await inTime(() => temporal.workflow.getHandle(workflowId).describe())
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW')
      return { state: 'running', repeated: repeatedSteps(raw) }
    const byOperator = status.name === 'TERMINATED' && !(await inTime(() => endedByServer(temporal, workflowId, runId)))
    return { state: byOperator ? 'terminated' : 'closed', repeated: [] }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { state: 'missing', repeated: [] }
    throw error
  }
}

/** Without the steps that only wait: they are repeated too, and their failure says so. */
export const repeatedSteps = ({
  pendingActivities
}: Pick<WorkflowExecutionDescription['raw'], 'pendingActivities'>): WorkflowLook['repeated'] =>
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

/** As the server's history service signs a termination of its own. */
const SERVER_IDENTITY = 'history-service'
/** The reasons of such terminations: the number of events, the size of the history, the size of the state. */
const serverReason = /exceeds limit/i

/** Whether the server itself terminated a workflow, since its history had reached a limit. */
async function endedByServer(temporal: Client, workflowId: string, runId: string): Promise<boolean> {
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
    namespace: temporal.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: CLOSE_EVENT
  })
  const terminated = history?.events?.at(-1)?.workflowExecutionTerminatedEventAttributes
  return terminated?.identity === SERVER_IDENTITY || serverReason.test(terminated?.reason ?? '')
}

/** HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT */
const CLOSE_EVENT = 2

async function namespaceResponds(temporal: Client): Promise<boolean> {
  const { namespace } = temporal.options
  return temporal
    .withDeadline(Date.now() + CALL_DEADLINE_MS, () => temporal.workflowService.describeNamespace({ namespace }))
    .then(() => true)
    .catch(() => false)
}
