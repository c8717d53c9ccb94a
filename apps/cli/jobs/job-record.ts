// The fields of the API's responses about jobs that commands show.
import type { JobStatus, TaskState } from '../../../domain/jobs/job-status.js'
import { jsonFields } from '../../../domain/json/json-text.js'

export interface JobRecord {
  id: string
  name: string | null
  labels: string[]
  status: JobStatus
  status_reason: string | null
  backend: string
  /** Why this backend, where the submission left it open. */
  choice?: Choice | null
  execution_mode: string
  framework: string | null
  source: { kind: string; sha256: string; script_id?: string | null; script_version?: number | null }
  estimated_cost_usd: number
  actual_cost_usd: number | null
  error: { code: string; message: string } | null
  summary: Record<string, string> | null
  attempts: number
  /** Of a sweep. */
  progress?: Progress | null
  emulated: boolean
  provider_jobs: ProviderJobRecord[]
  cancel: { requested_at: string; outcome: string | null } | null
  workflow: { id: string; url: string | null } | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  queue: { position: number | null; reason: string; message: string | null } | null
  /** When contents of the job were removed because their time was over, by kind. */
  removed?: Record<string, string>
}

export interface Choice {
  candidates: { usable: boolean; reason: string }[]
}

export interface ProviderJobRecord {
  provider_job_id: string | null
  provider: string
  status: string
  cost_usd: number | null
  usage?: { amount: number; unit: string } | null
  note?: string | null
}

export interface Progress {
  points_total: number
  points_done: number
  points_failed: number
}

/** The text of the result in a job's record, exactly as stored; `null` without a result. */
export function resultJson(recordText: string): string | null {
  const text = jsonFields(recordText).get('result') ?? 'null'
  return text === 'null' ? null : text
}

/** A task of a job's graph, or the only task of a plain job. */
export interface Task {
  id: string
  key: string
  name: string
  state: TaskState
  /** Ids of tasks. */
  depends_on: string[]
  attempts: number
  started_at: string | null
  completed_at: string | null
  error: { code: string; message: string } | null
}

export interface Attempt {
  /** The id of its task; null for a plain job. */
  task_id: string | null
  task: string
  number: number
  state: string
  started_at: string
  ended_at: string | null
  error: { code: string; message: string } | null
  backoff_ms: number | null
  provider_job_id: string | null
}
