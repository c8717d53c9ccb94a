// What a script or task hears of a circuit that it has asked for, and how it ends when the circuit's fault ends its job.
import { attemptUnderWay, closeAttempt } from '../../db/jobs/attempts.js'
import { failTask } from '../../db/jobs/job-tasks.js'
import { answerScriptRequest } from '../../db/jobs/script-requests.js'
import { loadProviderRun } from '../../db/provider-jobs/provider-runs.js'
import type { ErrorCode, JobError } from '../../domain/errors.js'
import type { ProviderJobCounts } from '../../services/providers/adapter.js'
import { retryWhileDatabaseAway } from '../job/retry-while-database-away.js'
import { type ProviderDeps, runningJob, type StepContext, type StepEnd } from './step.js'

/** As it is kept of an ask (db/jobs/script-requests.ts): counts and where they come from, or why there are none. */
type CircuitResponse =
  | { counts: ProviderJobCounts['counts']; count_source: ProviderJobCounts['source']; provider_job_id: string | null }
  | { error: string }

/** Faults that are not the circuit's own: a script that catches them could only go on to the next one. */
const endsTheJob: ReadonlySet<ErrorCode> = new Set([
  'backend_unavailable',
  'budget_exceeded',
  'spend_limit_exceeded',
  'provider_unreachable',
  'provider_outcome_unknown',
  'internal_error'
])

/** Stores what becomes of an ask; an answer that is there stays. */
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

/** A fault of the circuit itself is the answer; another fails whoever asked, for good. */
export async function respondWithFault(deps: ProviderDeps, context: StepContext, fault: JobError): Promise<StepEnd> {
  if (!endsTheJob.has(fault.code)) return respondWithCircuit(deps, context, { error: fault.message })
  const { ref, fence, signal } = context
  const { jobId, task } = ref
  const kept = { log: deps.log, jobId, signal }
  const asker = await retryWhileDatabaseAway(kept, () => loadProviderRun(deps.db, ref))
  const error = asker?.funcName
    ? { code: fault.code, message: `task '${asker.funcName}' (${task}): ${fault.message}` }
    : fault
  await retryWhileDatabaseAway(kept, async () => {
    const number = await attemptUnderWay(deps.db, jobId, fence, task)
    if (number !== null) await closeAttempt(deps.db, jobId, number, 'failed', fault, null, task)
    if (task !== '') await failTask(deps.db, jobId, task, error)
  })
  deps.announce(jobId)
  return { next: 'fail', error }
}
