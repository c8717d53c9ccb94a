// A job as the API shows it. Parameters and results are spliced into the answer as the text they were stored as: a number in
// them may be larger than a JavaScript number can hold.
import type { AttemptRow } from '../../../db/jobs/attempts.js'
import type { ProviderJob } from '../../../db/jobs/job-waiting.js'
import type { JobRow } from '../../../db/jobs/jobs.js'
import { isQueuedStatus } from '../../../domain/backends/provider-job.js'
import { workflowIdOf } from '../../../domain/jobs/dispatch.js'
import { isFinal } from '../../../domain/jobs/job-status.js'
import { usdFromMicro } from '../../../domain/money/money.js'

export interface JobViewOptions {
  temporalUiUrl: string | null
  temporalNamespace: string
  now: Date
}

/** The record but for its parameters and its result (decisions, section 4). */
function jobView(job: JobRow, options: JobViewOptions) {
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
    source: {
      kind: job.capsuleRunId === null ? job.sourceKind : 'capsule',
      script_id: job.scriptId,
      script_version: job.scriptVersion,
      sha256: job.sourceSha256
    },
    script_id: job.scriptId,
    capsule_id: job.capsuleId,
    capsule_run_id: job.capsuleRunId,
    estimated_cost_usd: usdFromMicro(job.estimatedCost),
    actual_cost_usd: job.actualCost === null ? null : usdFromMicro(job.actualCost),
    error: job.errorCode === null ? null : { code: job.errorCode, message: job.errorMessage },
    attempts: job.attempts,
    provider_jobs: job.providerJobs.filter(({ id, state }) => id !== null || state === 'unknown').map(providerJobView),
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

/** JSON text of the item of a list, which has no result. @param more fields beside those of the record. */
export const jobItemJson = (job: JobRow, options: JobViewOptions, more: object = {}): string =>
  withText({ ...jobView(job, options), ...more }, 'params', job.params)

/** JSON text of a page of jobs. @param items JSON texts. @param rest what else the page says. */
export const jobPageJson = (items: string[], rest: object): string => withText(rest, 'jobs', `[${items.join(',')}]`)

/** JSON text of the whole record. */
export const jobRecordJson = (job: JobRow, result: string | null, options: JobViewOptions): string =>
  `${jobItemJson(job, options).slice(0, -1)},"result":${result ?? 'null'}}`

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

/** A plain job's one task has a name for readers. */
export const taskKeyOf = (task: string): string => task || 'circuit'

export const attemptView = (attempt: AttemptRow) => ({
  task_id: attempt.task || null,
  task: taskKeyOf(attempt.task),
  number: attempt.number,
  state: attempt.state,
  started_at: attempt.startedAt.toISOString(),
  ended_at: attempt.endedAt?.toISOString() ?? null,
  error: attempt.errorCode === null ? null : { code: attempt.errorCode, message: attempt.errorMessage },
  backoff_ms: attempt.backoffMs,
  provider_job_id: attempt.providerJobId,
  cost_usd: attempt.cost === null ? null : usdFromMicro(attempt.cost)
})

const providerJobView = (job: ProviderJob) => ({
  provider_job_id: job.id,
  provider: job.provider,
  status: job.state === 'accepted' ? (job.status ?? 'queued') : job.state,
  submitted_at: isoTime(job.submittedAt),
  ended_at: isoTime(job.endedAt),
  queue_position: job.queuePosition,
  cost_usd: job.cost === null ? null : usdFromMicro(BigInt(job.cost))
})

const isoTime = (text: string | null): string | null => text && new Date(text).toISOString()

function workflowView(job: JobRow, { temporalUiUrl, temporalNamespace }: JobViewOptions) {
  if (!job.durable) return null
  const id = workflowIdOf(job.id, job.generation)
  return {
    id,
    run_id: job.workflowRunId,
    url: temporalUiUrl && `${temporalUiUrl}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/${id}`
  }
}

/** Why a job is not running yet; `null` once it runs, and when it is to run no more. */
function queueView(job: JobRow, now: Date) {
  if (isFinal(job.status) || job.status === 'cancelling') return null
  const queued = job.providerJobs.find(({ state, status }) => state === 'accepted' && isQueuedStatus(status))
  if (queued) return { position: queued.queuePosition, reason: 'provider_queue', message: providerQueueText(queued) }
  if (job.attempts > 0) return null
  if (job.notBefore && job.notBefore > now)
    return {
      position: null,
      reason: 'not_before',
      message: `starts no earlier than ${job.notBefore.toISOString()}`
    }
  const position = (job.waiting?.ahead ?? 0) + 1
  if (job.waiting?.held === 'earlier_task')
    return {
      position: null,
      reason: 'earlier_task',
      message: 'waits for the tasks before it in the same run of its capsule'
    }
  if (job.waiting?.held) return { position, reason: job.waiting.held, message: heldText[job.waiting.held](job.backend) }
  if (job.waiting?.unreachable)
    return {
      position,
      reason: 'engine_unavailable',
      message: 'the engine that starts this job cannot be reached at present; it starts when the engine is back'
    }
  const atProvider = job.providerJobs[0]
  return {
    position,
    reason: 'waiting_for_worker',
    message: atProvider ? `is being handed to ${atProvider.provider}` : 'waits for a free run slot'
  }
}

const heldText = {
  concurrency_limit: () =>
    'the team has as many jobs under way as it may at once; this one starts when one of them ends',
  backend_offline: (backend: string) =>
    `${backend} does not take jobs at present (GET /api/backends says more); this one starts when it does`
}

function providerQueueText({ provider, queuePosition, predictedWaitSeconds }: ProviderJob): string {
  const place = queuePosition === null ? '' : ` at position ${queuePosition}`
  const wait =
    predictedWaitSeconds === null ? '' : `; ${provider} expects it to start in ${spanText(predictedWaitSeconds)}`
  return `waits in the queue of ${provider}${place}${wait}`
}

/** A span of time in the largest unit that leaves at least two of it. */
function spanText(seconds: number): string {
  const units = [
    ['days', 86_400],
    ['hours', 3_600],
    ['minutes', 60]
  ] as const
  for (const [unit, size] of units) if (seconds >= 2 * size) return `about ${Math.round(seconds / size)} ${unit}`
  return `about ${seconds} s`
}

const withResult = (record: object, result: string | null): string => withText(record, 'result', result ?? 'null')

/** @param text JSON, that of the last field. */
const withText = (fields: object, name: string, text: string): string =>
  `${JSON.stringify(fields).slice(0, -1)},${JSON.stringify(name)}:${text}}`
