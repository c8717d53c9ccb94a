// A job as the API shows it. Results are spliced into the answer as the text they were stored as: a number in them may be
// larger than a JavaScript number can hold.
import type { Attempt } from '../../db/attempts.js'
import type { JobRow } from '../../db/jobs.js'
import { workflowIdOf } from '../../domain/dispatch.js'
import { isFinal } from '../../domain/job-status.js'
import { usdFromMicro } from '../../domain/money.js'

export interface JobViewOptions {
  temporalUiUrl: string | null
  temporalNamespace: string
  now: Date
}

/** The record without its result (decisions, section 4); also the item of a list. */
export function jobView(job: JobRow, options: JobViewOptions) {
  return {
    id: job.id,
    name: job.name,
    labels: job.labels,
    timeout_seconds: job.timeoutSeconds,
    team_id: job.teamId,
    user_id: job.userId,
    status: job.status,
    status_reason: job.statusReason,
    backend: job.backend,
    provider: job.provider,
    execution_mode: job.mode,
    // Until the execution service has read the program nobody knows.
    framework: job.framework === 'auto' ? null : job.framework,
    source: { kind: job.sourceKind, script_id: null, script_version: null, sha256: job.sourceSha256 },
    params: JSON.parse(job.params) as unknown,
    script_id: null,
    capsule_id: null,
    capsule_run_id: null,
    estimated_cost_usd: usdFromMicro(job.estimatedCost),
    actual_cost_usd: job.actualCost === null ? null : usdFromMicro(job.actualCost),
    error: job.errorCode === null ? null : { code: job.errorCode, message: job.errorMessage },
    attempts: job.attempts,
    provider_jobs: [],
    cancel: job.cancelRequestedAt
      ? { requested_at: job.cancelRequestedAt.toISOString(), outcome: job.cancelOutcome }
      : null,
    workflow: workflowView(job, options),
    not_before: job.notBefore?.toISOString() ?? null,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    completed_at: job.completedAt?.toISOString() ?? null,
    updated_at: job.updatedAt.toISOString(),
    queue: queueView(job, options.now)
  }
}

/** JSON text of the whole record. */
export const jobRecordJson = (job: JobRow, result: string | null, options: JobViewOptions): string =>
  withResult(jobView(job, options), result)

/** JSON text of `GET /api/jobs/:id/status`: exactly these seven fields, which the public client relies on. */
export const jobStatusJson = (job: JobRow, result: string | null): string =>
  withResult(
    {
      id: job.id,
      status: job.status,
      backend: job.backend,
      created_at: job.createdAt.toISOString(),
      updated_at: job.updatedAt.toISOString(),
      estimated_cost_usd: usdFromMicro(job.estimatedCost)
    },
    job.errorMessage === null ? result : JSON.stringify({ error: job.errorMessage })
  )

export const attemptView = (attempt: Attempt) => ({
  task_id: attempt.task || null,
  task: attempt.task || 'circuit',
  number: attempt.number,
  state: attempt.state,
  started_at: attempt.startedAt.toISOString(),
  ended_at: attempt.endedAt?.toISOString() ?? null,
  error: attempt.errorCode === null ? null : { code: attempt.errorCode, message: attempt.errorMessage },
  backoff_ms: null,
  provider_job_id: null,
  cost_usd: 0
})

function workflowView(job: JobRow, { temporalUiUrl, temporalNamespace }: JobViewOptions) {
  if (!job.durable) return null
  const id = workflowIdOf(job.id, job.generation)
  return {
    id,
    run_id: job.workflowRunId,
    url: temporalUiUrl && `${temporalUiUrl}/namespaces/${temporalNamespace}/workflows/${id}`
  }
}

/** Why a job is not running yet; `null` once the executor has accepted it, and when it is to run no more. */
function queueView(job: JobRow, now: Date) {
  if (isFinal(job.status) || job.status === 'cancelling' || job.attempts > 0) return null
  const position = job.ahead + 1
  if (job.notBefore && job.notBefore > now)
    return { position, reason: 'not_before', message: `starts no earlier than ${job.notBefore.toISOString()}` }
  if (job.engineUnreachable)
    return {
      position,
      reason: 'engine_unavailable',
      message: 'the engine that starts this job cannot be reached at present; it starts when the engine is back'
    }
  return { position, reason: 'waiting_for_worker', message: 'waits for a free run slot' }
}

const withResult = (record: object, result: string | null): string =>
  `${JSON.stringify(record).slice(0, -1)},"result":${result ?? 'null'}}`
