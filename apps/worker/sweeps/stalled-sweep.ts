// Finds durable jobs whose workflow is gone: its history was deleted, it failed, timed out, or an operator terminated it.
// Postgres is the truth, so such a job gets a new workflow of the next generation, which continues from the stored state.
import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  markMissing,
  markWorkflowFound,
  restartWorkflow,
  type StalledJob,
  takeStalled
} from '../../../db/job-steps/stalled-workflows.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import { workflowIdOf } from '../../../domain/jobs/dispatch.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'
import type { WorkerTimes } from './times.js'

const JOBS_PER_PASS = 200
const CALL_DEADLINE_MS = 2_000

export interface StalledSweepDeps {
  db: Db
  temporal: Client
  announce: AnnounceJob
  times: WorkerTimes
  reports: SweepReports
  log: Logger
}

export function startStalledSweep(deps: StalledSweepDeps): TimerLoop {
  const { db, temporal, times, reports, log } = deps
  async function pass(): Promise<Pass> {
    const jobs = await takeStalled(db, times.quietSeconds, JOBS_PER_PASS)
    if (jobs.length === 0) return { handled: 0 }
    // "Not found" proves nothing while the server does not respond for its namespace.
    if (!(await namespaceResponds(temporal))) throw new Error('Temporal does not respond for its namespace')
    for (const job of jobs) await checkWorkflow(deps, job)
    return { more: jobs.length === JOBS_PER_PASS, handled: jobs.length }
  }
  const name = 'stalled_workflows'
  return startLoop(name, times.stalledSweepMs, log, pass, reports.of(name, times.stalledSweepMs))
}

async function checkWorkflow({ db, temporal, announce, times, log }: StalledSweepDeps, job: StalledJob): Promise<void> {
  const state = await workflowState(temporal, workflowIdOf(job.id, job.generation))
  if (state === 'running') return markWorkflowFound(db, job.id)
  if (state === 'missing' && !(await markMissing(db, job.id, job.generation, times.missingConfirmSeconds))) return
  const restart = await restartWorkflow(db, job.id, job.generation, state === 'terminated' ? 'cancelling' : 'same')
  announce(job.id)
  log.warn({ jobId: job.id, generation: job.generation, state, restart }, 'a job had no live workflow')
}

type WorkflowState = 'running' | 'terminated' | 'closed' | 'missing'

async function workflowState(temporal: Client, workflowId: string): Promise<WorkflowState> {
  try {
    const { status } = await temporal.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
      temporal.workflow.getHandle(workflowId).describe()
    )
    if (status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW') return 'running'
    return status.name === 'TERMINATED' ? 'terminated' : 'closed'
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing'
    throw error
  }
}

async function namespaceResponds(temporal: Client): Promise<boolean> {
  const { namespace } = temporal.options
  return temporal
    .withDeadline(Date.now() + CALL_DEADLINE_MS, () => temporal.workflowService.describeNamespace({ namespace }))
    .then(() => true)
    .catch(() => false)
}
