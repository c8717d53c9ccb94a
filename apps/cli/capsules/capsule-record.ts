// The fields of the API's responses about capsules that commands show.
import type { CapsuleRunStatus, CapsuleState } from '../../../domain/capsules/capsule-state.js'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import type { Verdict } from '../../../domain/verification/verdict.js'
import type { ListTotal } from '../terminal/output.js'

export interface CapsuleItem {
  id: string
  name: string
  state: CapsuleState
  tags: string[]
  created_at: string
}

export interface CapsuleRecord extends CapsuleItem {
  description: string
  workflow: { tasks: { name: string; script_id: string | null; backend: string; framework?: string }[] } | null
  backends: string[]
  max_budget_usd: number | null
  retention_years: number | null
  regulatory_framework: string | null
  source_job_id: string | null
  cloned_from: string | null
  derived_from?: string | null
  imported?: { capsule_digest: string | null; name: string; sealed_at: string | null } | null
  evidence: { task_executions: number; artifacts: { name: string; size_bytes: number }[] }
  seal: {
    root_digest: string
    capsule_digest: string
    exit_code: number
    exit_message: string | null
    margin?: number
    warnings?: string[]
    sealed_at: string
    signature: { key_id: string; algorithm: string }
  } | null
  publication: { title: string; slug: string; published_at: string } | null
  schedule: { cron: string; timezone: string; paused: boolean } | null
  updated_at: string
}

/** A published capsule of any team. */
export interface PublicItem {
  id: string
  slug: string
  title: string
  description: string
  license: string | null
  tags: string[]
  published_at: string
  capsule_digest: string
}

export interface PublicPage extends ListTotal {
  capsules: PublicItem[]
}

export interface PublicCapsule
  extends PublicItem,
    Pick<CapsuleRecord, 'workflow' | 'evidence' | 'regulatory_framework'> {
  seal: Pick<NonNullable<CapsuleRecord['seal']>, 'exit_code' | 'margin' | 'sealed_at' | 'signature'>
}

export interface CapsulePage extends ListTotal {
  capsules: CapsuleItem[]
}

export interface CapsuleRun {
  id: string
  mode: string
  trigger: string
  status: CapsuleRunStatus
  reason: string | null
  /** In the order of execution. */
  tasks: { name: string; job_id: string; status: JobStatus; backend: string; shots: number }[]
  actual_cost_usd: number | null
  verdict: Verdict | null
  verification: {
    method: string
    tvd: number | null
    tvd_upper: number | null
    margin: number
    needed_shots?: number | null
    reason: string
  } | null
  created_at: string
  completed_at: string | null
}

export interface RunPage extends ListTotal {
  runs: CapsuleRun[]
}

/** Whether a run has reached a final status. */
export const isOver = ({ status }: CapsuleRun): boolean => !['pending', 'running', 'judging'].includes(status)

/** Whether a run completed, and its results match the seal if they were compared. */
export const succeeded = ({ status, verdict }: CapsuleRun): boolean =>
  status === 'completed' && (verdict === null || verdict === 'exact' || verdict === 'consistent')
