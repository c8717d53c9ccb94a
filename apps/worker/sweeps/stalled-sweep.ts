// Finds durable jobs whose workflow is gone or can no longer go on: its history was deleted, it failed, timed out, its code
// has changed, the workers of its version are gone, or an operator terminated it. Postgres is the truth, so such a job gets a
// new workflow of the next generation, which continues from the stored state.
import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  jobsWithFailingWorkflow,
  markChecked,
  markMissing,
  markWorkflowFound,
  openAmong,
  quietJobs,
  type Restart,
  restartWorkflow,
  type StalledJob
} from '../../../db/job-steps/stalled-workflows.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import {
  jobOfWorkflow,
  RUN_JOB_AT_PROVIDER_WORKFLOW,
  RUN_JOB_WORKFLOW,
  workflowIdOf
} from '../../../domain/jobs/dispatch.js'
import { errorKind } from '../../../domain/operations/error-kind.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import { CALL_DEADLINE_MS, lookAtWorkflow, type WorkflowLook } from '../../../services/dispatch/workflow-look.js'
import type { WorkerTimes } from '../times.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startSharedLoop, type TimerLoop } from './timer-loop.js'

const JOBS_PER_PASS = 200
const FAILING_SHOWN = 20
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
    findings.push(...(await jobsWithFailingWorkflow(db, FAILING_SHOWN)).map(failingFinding))
    return { more: quiet.length === JOBS_PER_PASS && unchecked === 0, handled: jobs.length, findings }
  }
  return startSharedLoop({ db, reports, log }, 'stalled_workflows', times.stalledSweepMs, pass)
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
  const workflowId = workflowIdOf(job.id, job.generation)
  const look = await lookAtWorkflow(temporal, workflowId)
  if (look.state === 'running') {
    for (const { step, attempt, reason } of look.repeated) {
      deps.countRepeatedStep(step)
      log.warn({ jobId: job.id, step, attempt, reason }, 'a step of a running job is tried again and again')
    }
    if (look.failing)
      log.error({ jobId: job.id, ...look.failing }, 'the workflow of a running job fails again and again')
    return markWorkflowFound(db, job.id, look.failing !== null)
  }
  if (look.state === 'missing' && !(await markMissing(db, job.id, job.generation, times.missingConfirmSeconds))) return
  const restart = await restartWorkflow(db, job.id, job.generation, restartAfter[look.state])
  announce(job.id)
  log.warn({ jobId: job.id, generation: job.generation, ...look, restart }, 'a job had no live workflow')
  // Its generation is over, so it can write nothing more; it would only stay open in Temporal.
  if (look.state === 'abandoned' && restart === 'restarted')
    await temporal.workflow.getHandle(workflowId).terminate(`no worker runs version ${look.build}`)
}

const failingFinding = ({ id }: { id: string }): string =>
  `job ${id}: its workflow fails again and again; the log of the worker has the reason`

const restartAfter: Record<Exclude<WorkflowLook['state'], 'running'>, Restart> = {
  terminated: 'cancelling',
  closed: 'lost',
  missing: 'lost',
  outdated: 'code_changed',
  abandoned: 'code_changed'
}

async function namespaceResponds(temporal: Client): Promise<boolean> {
  const { namespace } = temporal.options
  return temporal
    .withDeadline(Date.now() + CALL_DEADLINE_MS, () => temporal.workflowService.describeNamespace({ namespace }))
    .then(() => true)
    .catch(() => false)
}
