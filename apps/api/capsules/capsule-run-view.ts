// A run of a capsule as the API shows it (decisions, section 7).
import type { CapsuleRun, RunTask } from '../../../db/capsule-runs/capsule-run-records.js'
import { usdFromMicro } from '../../../domain/money/money.js'

export const capsuleRunView = (run: CapsuleRun) => ({
  id: run.id,
  capsule_id: run.capsuleId,
  team_id: run.teamId,
  mode: run.mode,
  trigger: run.trigger,
  user_id: run.userId,
  status: run.status,
  reason: run.reason,
  definition_sha256: run.definitionSha256,
  job_ids: run.tasks.map(({ jobId }) => jobId),
  tasks: run.tasks.map(taskView),
  estimated_cost_usd: usdFromMicro(run.tasks.reduce((sum, { estimatedCost }) => sum + estimatedCost, 0n)),
  actual_cost_usd: costOf(run.tasks),
  verdict: run.verdict,
  verification: run.verification,
  scheduled_at: run.scheduledAt?.toISOString() ?? null,
  confirms: run.confirms,
  alerted_at: run.alertedAt?.toISOString() ?? null,
  created_at: run.createdAt.toISOString(),
  started_at: run.startedAt?.toISOString() ?? null,
  completed_at: run.completedAt?.toISOString() ?? null
})

const taskView = (task: RunTask) => ({
  name: task.name,
  job_id: task.jobId,
  status: task.status,
  backend: task.backend,
  shots: task.shots
})

/** Known once every job has its figure. */
function costOf(tasks: RunTask[]): number | null {
  let sum = 0n
  for (const { actualCost } of tasks) {
    if (actualCost === null) return null
    sum += actualCost
  }
  return usdFromMicro(sum)
}
