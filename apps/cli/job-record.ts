// The parts of the API's answers about jobs that commands show.
import type { JobStatus } from '../../domain/job-status.js'

export interface JobRecord {
  id: string
  name: string | null
  labels: string[]
  status: JobStatus
  status_reason: string | null
  backend: string
  execution_mode: string
  framework: string | null
  source: { kind: string; sha256: string }
  estimated_cost_usd: number
  actual_cost_usd: number | null
  error: { code: string; message: string } | null
  attempts: number
  provider_jobs: { provider_job_id: string | null; provider: string; status: string; cost_usd: number | null }[]
  cancel: { requested_at: string; outcome: string | null } | null
  workflow: { id: string; url: string | null } | null
  created_at: string
  started_at: string | null
  completed_at: string | null
  queue: { position: number | null; reason: string; message: string | null } | null
  result?: JobResult | null
}

export interface JobResult {
  counts?: Record<string, number>
  shots?: number
  warnings?: string[]
  stdout?: string
  execution_time_ms?: number
}

export interface Attempt {
  number: number
  state: string
  started_at: string
  ended_at: string | null
  error: { code: string; message: string } | null
  backoff_ms: number | null
  provider_job_id: string | null
}
