// Answers about jobs and their files.
import { Type } from 'typebox'
import { type ErrorCode, errorCatalogue } from '../../../domain/errors.js'
import { frameworks } from '../../../domain/jobs/framework.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { programmingModels, receiptProtocol } from '../../../domain/jobs/native-submission.js'
import {
  anything,
  count,
  created,
  listOf,
  nullable,
  ok,
  oneOf,
  pageOf,
  type ResponseSet,
  ref,
  text,
  time,
  usd,
  uuid
} from '../http/response-schema.js'

const failure = nullable(Type.Object({ code: oneOf(Object.keys(errorCatalogue)), message: text }))

const result = nullable(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        "null until the job is completed. Of a circuit: counts (outcome to count, qubit 0 leftmost), shots, backend, execution_time_ms, circuit_info, metadata, warnings, and what was asked for besides. Of a program's own `main`: what it returned."
    }
  )
)

/** The record without its result: the item of a list. */
export const jobFields = {
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
  execution_mode: oneOf(['direct', 'temporal']),
  framework: nullable(oneOf(frameworks)),
  source: Type.Object({
    kind: oneOf(['inline', 'circuit', 'script', 'capsule']),
    script_id: nullable(uuid),
    script_version: nullable(Type.Integer()),
    sha256: text
  }),
  params: anything,
  script_id: nullable(uuid),
  capsule_id: nullable(uuid),
  capsule_run_id: nullable(uuid),
  estimated_cost_usd: usd,
  actual_cost_usd: nullable(usd),
  error: failure,
  attempts: count,
  provider_jobs: Type.Array(
    Type.Object({
      provider_job_id: nullable(text),
      provider: text,
      status: text,
      submitted_at: nullable(time),
      ended_at: nullable(time),
      queue_position: nullable(count),
      cost_usd: nullable(usd)
    })
  ),
  cancel: nullable(
    Type.Object({
      requested_at: time,
      outcome: nullable(oneOf(['stopped_before_provider', 'provider_confirmed', 'provider_unknown', 'too_late']))
    })
  ),
  workflow: nullable(Type.Object({ id: text, run_id: nullable(text), url: nullable(text) })),
  not_before: nullable(time),
  created_at: time,
  started_at: nullable(time),
  completed_at: nullable(time),
  updated_at: time,
  queue: nullable(
    Type.Object({
      position: nullable(count),
      reason: oneOf([
        'not_before',
        'engine_unavailable',
        'waiting_for_worker',
        'backend_offline',
        'concurrency_limit',
        'earlier_task',
        'provider_queue'
      ]),
      message: text
    })
  )
}

const submitErrors = [
  'budget_exceeded',
  'spend_limit_exceeded',
  'backend_unknown',
  'backend_retired',
  'backend_unavailable'
] as const satisfies ErrorCode[]

export const jobResponses: ResponseSet = {
  schemas: {
    JobSummary: Type.Object(jobFields),
    Job: Type.Object({ ...jobFields, result }),
    JobState: Type.Object({
      id: uuid,
      status: oneOf(jobStatuses),
      backend: text,
      created_at: time,
      updated_at: time,
      estimated_cost_usd: usd,
      result: Type.Unsafe({ ...result, description: 'As in the record; of a failed job `{ "error": "message" }`' })
    }),
    Attempt: Type.Object({
      task_id: nullable(text),
      task: text,
      number: Type.Integer({ minimum: 1 }),
      state: oneOf(['running', 'completed', 'failed', 'cancelled', 'lost']),
      started_at: time,
      ended_at: nullable(time),
      error: failure,
      backoff_ms: nullable(count),
      provider_job_id: nullable(text),
      cost_usd: nullable(usd)
    }),
    ManagedRuntime: Type.Object({
      backend: text,
      programming_model: oneOf(programmingModels),
      min_cap_cents: Type.Integer({ minimum: 1 }),
      max_cap_cents: Type.Integer({ minimum: 1 })
    }),
    AdmissionReceipt: Type.Object({
      protocol_version: oneOf([receiptProtocol]),
      job_id: uuid,
      submission_id: uuid,
      source_sha256: text,
      input_sha256: text
    }),
    Task: Type.Object({
      id: Type.String({ description: 'Of a graph: the key of the task. Of a plain job: the id of the job.' }),
      key: text,
      name: text,
      state: oneOf(['pending', 'running', 'completed', 'failed', 'cancelled', 'skipped']),
      depends_on: Type.Array(text),
      attempts: count,
      started_at: nullable(time),
      completed_at: nullable(time),
      error: failure,
      stdout: nullable(text)
    }),
    Artifact: Type.Object({
      name: text,
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      size_bytes: count,
      media_type: text
    })
  },
  answers: {
    'POST /api/jobs/submit': {
      success: created(
        'It is recorded; a native program is answered with its receipt',
        Type.Union([Type.Object({ job_id: uuid }), ref('AdmissionReceipt')])
      ),
      errors: ['conflict', 'not_available', 'analysis_mismatch', ...submitErrors]
    },
    'GET /api/jobs': {
      success: ok('The jobs', pageOf('jobs', 'JobSummary', { next_cursor: nullable(uuid) })),
      errors: ['not_available']
    },
    'GET /api/jobs/estimate': {
      success: ok(
        'The estimate',
        Type.Object({
          estimated_cost_usd: usd,
          breakdown: Type.Object({ task_fee: usd, per_shot: usd, shots: count, tasks: count, minimum_cost: usd }),
          budget: ref('Budget')
        })
      ),
      errors: ['not_found']
    },
    'GET /api/jobs/managed-runtimes': {
      success: ok('The runtimes', listOf('runtimes', 'ManagedRuntime')),
      errors: ['not_found']
    },
    'GET /api/jobs/:id': { success: ok('The record', ref('Job')) },
    'GET /api/jobs/:id/status': { success: ok('The status', ref('JobState')) },
    'GET /api/jobs/:id/attempts': { success: ok('The attempts', listOf('attempts', 'Attempt')) },
    'GET /api/jobs/:id/artifacts': { success: ok('The files', listOf('artifacts', 'Artifact')) },
    'GET /api/jobs/:id/artifacts/:name': {
      success: {
        200: { description: 'The bytes, with their own media type', body: '*/*', headers: ['ETag'] },
        304: { description: 'As it was: If-None-Match names its ETag', headers: ['ETag'] }
      }
    },
    'GET /api/jobs/:id/source': { success: { 200: { description: 'As it was submitted', body: 'text/plain' } } },
    'GET /api/jobs/:id/tasks': { success: ok('The tasks', listOf('tasks', 'Task')) },
    'GET /api/jobs/:id/events': {
      success: {
        200: {
          description:
            '`status` for each change of the status, with `data` of `{ "seq", "type", "status", "reason", "at" }`; `attempt` for each execution that begins or ends, with `{ "seq", "type", "task", "number", "state", "status", "at" }`. The number is the `id` too, and rises by one. A comment every 15 seconds',
          body: 'text/event-stream'
        }
      }
    },
    'POST /api/jobs/:id/rerun': {
      success: created('It is recorded', Type.Object({ job_id: uuid })),
      errors: ['conflict', ...submitErrors]
    },
    'POST /api/jobs/:id/cancel': {
      success: { 202: { description: 'The record; what is running is being stopped', body: ref('Job') } },
      errors: ['conflict']
    }
  }
}
