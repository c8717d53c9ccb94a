// Responds to a script or task that requested a circuit, or fails it when the fault is not the circuit's own.
import { attemptUnderWay, closeAttempt } from '../../db/jobs/attempts.js'
import { failTask } from '../../db/jobs/job-tasks.js'
import { answerScriptRequest } from '../../db/jobs/script-requests.js'
import { loadProviderRun } from '../../db/provider-jobs/provider-runs.js'
import type { ErrorCode, JobError } from '../../domain/errors.js'
import type { ProviderJobCounts } from '../../services/providers/adapter.js'
import { retryWhileDatabaseAway } from '../job/retry-while-database-away.js'
import { type ProviderDeps, runningJob, type StepContext, type StepEnd } from './step.js'

/** As a request stores it (db/jobs/script-requests.ts): counts and their source, or the reason why there are none. */
type CircuitResponse =
  | { counts: ProviderJobCounts['counts']; count_source: ProviderJobCounts['source']; provider_job_id: string | null }
  | { error: string }

/** Faults that are not the circuit's own: the script's next circuit would meet them again. */
const endsTheJob: ReadonlySet<ErrorCode> = new Set([
  'backend_unavailable',
  'budget_exceeded',
  'spend_limit_exceeded',
  'provider_unreachable',
  'provider_outcome_unknown',
  'internal_error'
])

/** Stores the response to a request; an existing response stays. */
export async function respondWithCircuit(
  deps: ProviderDeps,
  context: StepContext,
  answer: CircuitResponse
): Promise<StepEnd> {
  const { ref, fence, signal } = context
  const { jobId, task, attempt } = ref
  const mine = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () =>
    answerScriptRequest(deps.db, jobId, task, attempt, fence, JSON.stringify(answer))
  )
  if (mine) return { next: 'answered' }
  const found = await runningJob(deps, context)
  return 'end' in found ? found.end : { next: 'stop' }
}

/** A fault of the circuit itself becomes the response; any other fault fails the script or task. */
export async function respondWithFault(deps: ProviderDeps, context: StepContext, fault: JobError): Promise<StepEnd> {
  if (!endsTheJob.has(fault.code)) return respondWithCircuit(deps, context, { error: fault.message })
  const { ref, fence, signal } = context
  const { jobId, task } = ref
  const retrying = { log: deps.log, jobId, signal }
  const requester = await retryWhileDatabaseAway(retrying, () => loadProviderRun(deps.db, ref))
  const error = requester?.funcName
    ? { code: fault.code, message: `task '${requester.funcName}' (${task}): ${fault.message}` }
    : fault
  const mine = await retryWhileDatabaseAway(retrying, async () => {
    const number = await attemptUnderWay(deps.db, jobId, fence, task)
    // An attempt that another worker has closed is followed by that worker's own: it decides how the task ends.
    if (number !== null && !(await closeAttempt(deps.db, jobId, number, 'failed', fault, null, task))) return false
    if (task !== '') await failTask(deps.db, jobId, task, fence, error)
    return true
  })
  if (!mine) return { next: 'stop' }
  deps.announce(jobId)
  return { next: 'fail', error }
}
