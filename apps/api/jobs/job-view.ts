// A job as the API shows it. Parameters and results are spliced into the response as the text that is stored, because their
// numbers can exceed JavaScript's range.
import { type Static, Type } from 'typebox'
import type { AnyJobRecord as AnyJobRow } from '../../../db/admin/administration-lists.js'
import type { ProviderJob } from '../../../db/jobs/job-waiting.js'
import { type JobRow, LISTED_PARAMS_MAX, type ListedJob } from '../../../db/jobs/jobs.js'
import { isQueuedStatus } from '../../../domain/backends/provider-job.js'
import { workflowIdOf } from '../../../domain/jobs/dispatch.js'
import { type RecordedFramework, recordedFrameworks } from '../../../domain/jobs/framework.js'
import { cancelOutcomes, executionModes, isFinal, jobStatuses } from '../../../domain/jobs/job-status.js'
import { queueReasons } from '../../../domain/jobs/queue-reason.js'
import { SUMMARY_LINES_MAX } from '../../../domain/jobs/result-summary.js'
import { circuitFormats, recordedSourceKinds } from '../../../domain/jobs/source.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { anything, count, type JsonText, nullable, text, time, usd, uuid } from '../http/response.js'
import { Verdict } from '../http/verdict.js'
import { BackendChoice } from './choice/choice-view.js'
import { Failure, failureView } from './failure-view.js'
import { JobActions } from './job-actions.js'

export interface JobViewOptions {
  temporalUiUrl: string | null
  temporalNamespace: string
  now: Date
}

const ProviderJobItem = Type.Object(
  {
    provider_job_id: nullable(text),
    provider: text,
    status: text,
    submitted_at: nullable(time),
    ended_at: nullable(time),
    queue_position: nullable(count),
    cost_usd: nullable(usd, 'What it cost; `null` while or where that is not known: the estimate counts'),
    usage: nullable(
      Type.Object({ amount: Type.Number(), unit: text }, { $id: 'ProviderJobUsage' }),
      'What it used, in the unit of its provider'
    ),
    note: nullable(text, 'What a reader of its cost must know')
  },
  { $id: 'ProviderJob' }
)

const Workflow = nullable(
  Type.Object({ id: text, run_id: nullable(text), url: nullable(text) }, { $id: 'JobWorkflow' })
)

const Queue = nullable(
  Type.Object({ position: nullable(count), reason: oneOf(queueReasons), message: text }, { $id: 'JobQueue' })
)

export const Progress = nullable(
  Type.Object({ points_total: count, points_done: count, points_failed: count }, { $id: 'JobProgress' }),
  'Of a sweep: how many points it has, how many are done, and how many of those failed'
)

const recordFields = {
  id: uuid,
  name: nullable(text),
  labels: Type.Array(text),
  timeout_seconds: Type.Integer({ minimum: 1 }),
  team_id: uuid,
  user_id: nullable(uuid),
  status: oneOf(jobStatuses),
  status_reason: nullable(text),
  backend: text,
  provider: text,
  execution_mode: oneOf(executionModes),
  framework: nullable(oneOf(recordedFrameworks)),
  source: Type.Object(
    {
      kind: oneOf(recordedSourceKinds),
      format: nullable(oneOf(circuitFormats), 'Of circuits, and of an analog program'),
      script_id: nullable(uuid),
      script_version: nullable(Type.Integer()),
      sha256: text
    },
    { $id: 'JobSource' }
  ),
  script_id: nullable(uuid),
  capsule_id: nullable(uuid),
  capsule_run_id: nullable(uuid),
  estimated_cost_usd: usd,
  actual_cost_usd: nullable(usd),
  error: Failure,
  attempts: count,
  progress: Progress,
  provider_jobs: Type.Array(ProviderJobItem),
  emulated: Type.Boolean({ description: 'Whether an emulator ran it in the place of its provider' }),
  cancel: nullable(Type.Object({ requested_at: time, outcome: nullable(oneOf(cancelOutcomes)) }, { $id: 'JobCancel' })),
  workflow: Workflow,
  not_before: nullable(time),
  created_at: time,
  started_at: nullable(time),
  completed_at: nullable(time),
  updated_at: time,
  queue: Queue
}
const JobRecord = Type.Object(recordFields)

/** Parameters and result are spliced in as text, so no view makes them. */
const jobFields = { ...recordFields, params: anything }

const resultText =
  "null until the job is completed. Of a circuit: counts (outcome to count, qubit 0 leftmost; of an analog program one of e, g, r for each site in order), shots, backend, execution_time_ms, circuit_info, metadata, warnings, and what the submission requested in addition. Of a program's own `main`: what it returned."

/** In lists, in place of the result, and of large parameters. */
const listFields = {
  params: nullable(anything, `\`null\` where they have more than ${LISTED_PARAMS_MAX / 1024} KiB: the record has them`),
  params_omitted: Type.Boolean({ description: 'Whether the parameters are left out because of their size' }),
  summary: nullable(
    Type.Record(Type.String(), text),
    `The lines that the program put under \`_summary\`, by label: at most ${SUMMARY_LINES_MAX}, shortened. The result has all of them`
  )
}

/** The record without its result, as lists show it. */
export const JobSummary = Type.Object({ ...recordFields, ...listFields }, { $id: 'JobSummary' })

const Removed = Type.Partial(
  Type.Object({ results: time, task_values: time, output: time }, { additionalProperties: false }),
  {
    $id: 'RemovedContents',
    description:
      'When contents of the job were removed because their time was over (`GET /api/team/retention`); absent while it has all'
  }
)

export const Job = Type.Object(
  {
    ...jobFields,
    can: Type.Optional(JobActions),
    removed: Type.Optional(Removed),
    entrypoint: nullable(text, 'The function of the program that a native submission calls'),
    max_cost_usd: nullable(usd, "The submitter's own cap"),
    choice: nullable(BackendChoice, 'Why this backend, where the submission asked for `auto`'),
    result_bytes: Type.Optional(
      nullable(count, 'With `result=omit`: the size of the result, which is not included; `null` where there is none')
    ),
    result: nullable(
      Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description: resultText }))
    )
  },
  { $id: 'Job' }
)

/** A job in the administrators' list. */
export const AnyJob = Type.Object(
  { ...recordFields, ...listFields, team_name: text, user_email: nullable(text) },
  { $id: 'AnyJob' }
)

const AdminJobActions = Type.Object(
  { cancel: Verdict, settle: Verdict },
  { $id: 'AdminJobActions', description: '`true`, or the words with which a request would be refused now' }
)

/** A job as administrators read it: what a team submitted and got stays the team's. */
export const AnyJobRecord = Type.Object(
  {
    ...recordFields,
    team_name: text,
    user_email: nullable(text),
    held_usd: nullable(usd, 'What is reserved while its cost is not known; `null` where its money is not held'),
    can: AdminJobActions
  },
  { $id: 'AnyJobRecord' }
)

const stateFields = {
  id: uuid,
  status: oneOf(jobStatuses),
  backend: text,
  created_at: time,
  updated_at: time,
  estimated_cost_usd: usd
}
const JobStateRecord = Type.Object(stateFields)

export const JobState = Type.Object(
  {
    ...stateFields,
    result: nullable(
      Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description: resultText })),
      'As in the record; of a failed job `{ "error": "message" }`'
    )
  },
  { $id: 'JobState' }
)

/** What the record shows besides its parameters. */
type RecordRow = Omit<JobRow, 'params'>

/** The record except for its parameters and its result. */
function jobView(job: RecordRow, options: JobViewOptions): Static<typeof JobRecord> {
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
    // Unknown until the execution service has read the program.
    framework: job.framework === 'auto' ? null : (job.framework as RecordedFramework),
    source: {
      kind: job.capsuleRunId === null ? job.sourceKind : 'capsule',
      format: job.sourceFormat,
      script_id: job.scriptId,
      script_version: job.scriptVersion,
      sha256: job.sourceSha256
    },
    script_id: job.scriptId,
    capsule_id: job.capsuleId,
    capsule_run_id: job.capsuleRunId,
    estimated_cost_usd: usdFromMicro(job.estimatedCost),
    actual_cost_usd: job.actualCost === null ? null : usdFromMicro(job.actualCost),
    error: failureView(job),
    attempts: job.attempts,
    progress: progressView(job),
    provider_jobs: job.providerJobs.filter(({ id, state }) => id !== null || state === 'unknown').map(providerJobView),
    emulated: job.providerJobs.some(({ emulated }) => emulated),
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

export const anyJobView = (
  job: AnyJobRow,
  can: Static<typeof AdminJobActions>,
  options: JobViewOptions
): Static<typeof AnyJobRecord> => ({
  ...jobView(job, options),
  team_name: job.teamName,
  user_email: job.userEmail,
  held_usd: job.held === null ? null : usdFromMicro(job.held),
  can
})

/** JSON text of a job in a list, which has no result. @param more fields in addition to those of the record. */
export const jobItemJson = <More extends object = object>(
  job: ListedJob,
  options: JobViewOptions,
  more?: More
): JsonText<Static<typeof JobSummary> & More> => {
  const fields = { ...jobView(job, options), summary: summaryOf(job), params_omitted: job.params === null, ...more }
  return withText(fields, 'params', job.params ?? 'null') as JsonText<Static<typeof JobSummary> & More>
}

const summaryOf = ({ summary }: ListedJob): Record<string, string> | null =>
  summary === null ? null : (JSON.parse(summary) as Record<string, string>)

/** JSON text of a page of jobs. @param rest the other fields of the page. */
export const jobPageJson = <Item, Rest extends object>(
  items: JsonText<Item>[],
  rest: Rest
): JsonText<{ jobs: Item[] } & Rest> =>
  withText(rest, 'jobs', `[${items.join(',')}]`) as JsonText<{ jobs: Item[] } & Rest>

/**
 * JSON text of the full record.
 * @param more fields in addition to those of the record.
 */
export const jobRecordJson = (
  job: JobRow,
  result: string | null,
  options: JobViewOptions,
  more?: Pick<Static<typeof Job>, 'can' | 'removed' | 'result_bytes'>
): JsonText<Static<typeof Job>> => {
  const fields = {
    ...jobView(job, options),
    entrypoint: job.entrypoint,
    max_cost_usd: job.maxCost === null ? null : usdFromMicro(job.maxCost),
    choice: job.choice,
    ...more
  }
  return withResult(withText(fields, 'params', job.params), result) as JsonText<Static<typeof Job>>
}

/** JSON text of `GET /api/jobs/:id/status`: exactly these seven fields, which the public client relies on. */
export const jobStatusJson = (job: JobRow, result: string | null): JsonText<Static<typeof JobState>> =>
  withResult(
    JSON.stringify({
      id: job.id,
      status: job.status,
      backend: job.backend,
      created_at: job.createdAt.toISOString(),
      updated_at: job.updatedAt.toISOString(),
      estimated_cost_usd: usdFromMicro(job.estimatedCost)
    } satisfies Static<typeof JobStateRecord>),
    job.errorMessage === null ? result : JSON.stringify({ error: job.errorMessage })
  ) as JsonText<Static<typeof JobState>>

export const progressView = ({ pointsTotal, pointsDone, pointsFailed }: RecordRow): Static<typeof Progress> =>
  pointsTotal === null ? null : { points_total: pointsTotal, points_done: pointsDone, points_failed: pointsFailed }

const providerJobView = (job: ProviderJob): Static<typeof ProviderJobItem> => ({
  provider_job_id: job.id,
  provider: job.provider,
  status: job.state === 'accepted' ? (job.status ?? 'queued') : job.state,
  submitted_at: isoTime(job.submittedAt),
  ended_at: isoTime(job.endedAt),
  queue_position: job.queuePosition,
  cost_usd: job.cost === null ? null : usdFromMicro(BigInt(job.cost)),
  usage: job.usage,
  note: job.note
})

const isoTime = (text: string | null): string | null => text && new Date(text).toISOString()

function workflowView(job: RecordRow, { temporalUiUrl, temporalNamespace }: JobViewOptions): Static<typeof Workflow> {
  if (!job.durable) return null
  const id = workflowIdOf(job.id, job.generation)
  return {
    id,
    run_id: job.workflowRunId,
    url: temporalUiUrl && `${temporalUiUrl}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/${id}`
  }
}

type WaitingJob = Pick<JobRow, 'status' | 'backend' | 'notBefore' | 'attempts' | 'waiting' | 'providerJobs'>

/** Why a job is not running yet; `null` once it runs, and when it will never run. */
export function queueView(job: WaitingJob, now: Date): Static<typeof Queue> {
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
      message: 'waits for the earlier tasks of the same capsule run'
    }
  if (job.waiting?.held)
    return { position, reason: job.waiting.held, message: deferralText[job.waiting.held](job.backend) }
  if (job.waiting?.unreachable)
    return {
      position,
      reason: 'engine_unavailable',
      message: 'the engine that starts this job cannot be reached at present; it starts when the engine is back'
    }
  const atProvider = job.providerJobs[0]
  if (atProvider?.waitMessage)
    return {
      position: null,
      reason: 'provider_queue',
      message: `waits for ${atProvider.provider}: ${atProvider.waitMessage}`
    }
  return {
    position,
    reason: 'waiting_for_worker',
    message: atProvider ? `is being handed to ${atProvider.provider}` : 'waits for a free run slot'
  }
}

const deferralText = {
  concurrency_limit: () => 'the team is at its limit of concurrent jobs; this one starts when one of them finishes',
  backend_offline: (backend: string) => `${backend} does not take jobs at present; this one starts when it does`
}

function providerQueueText({ provider, queuePosition, predictedWaitSeconds, waitMessage }: ProviderJob): string {
  if (waitMessage !== null) return `waits in the queue of ${provider}, which cannot be asked at present: ${waitMessage}`
  const place = queuePosition === null ? '' : ` at position ${queuePosition}`
  const wait =
    predictedWaitSeconds === null ? '' : `; ${provider} expects it to start in ${spanText(predictedWaitSeconds)}`
  return `waits in the queue of ${provider}${place}${wait}`
}

/** A time span in the largest unit that it contains at least twice. */
function spanText(seconds: number): string {
  const units = [
    ['days', 86_400],
    ['hours', 3_600],
    ['minutes', 60]
  ] as const
  for (const [unit, size] of units) if (seconds >= 2 * size) return `about ${Math.round(seconds / size)} ${unit}`
  return `about ${seconds} s`
}

const withResult = (record: string, result: string | null): string =>
  `${record.slice(0, -1)},"result":${result ?? 'null'}}`

/** @param text the JSON text of the last field. */
const withText = (fields: object, name: string, text: string): string =>
  `${JSON.stringify(fields).slice(0, -1)},${JSON.stringify(name)}:${text}}`
