// A run of a capsule as the API shows it.
import { type Static, Type } from 'typebox'
import type { CapsuleRun as RunRow, RunTask } from '../../../db/capsule-runs/capsule-run-records.js'
import { capsuleRunModes, capsuleRunStatuses, capsuleRunTriggers } from '../../../domain/capsules/capsule-state.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { verdicts } from '../../../domain/verification/verdict.js'
import { anything, nullable, text, time, usd, uuid } from '../http/response.js'

export const CapsuleRun = Type.Object(
  {
    id: uuid,
    capsule_id: uuid,
    team_id: uuid,
    mode: oneOf(capsuleRunModes),
    trigger: oneOf(capsuleRunTriggers),
    user_id: nullable(uuid),
    status: oneOf(capsuleRunStatuses),
    reason: nullable(Type.String({ description: 'Why it failed, was cancelled, or was never created' })),
    definition_sha256: Type.String({
      description: 'The digest of what it ran: the definition of the capsule, or that with its own parameters'
    }),
    job_ids: Type.Array(uuid),
    tasks: Type.Array(
      Type.Object({
        name: text,
        job_id: uuid,
        status: oneOf(jobStatuses),
        backend: text,
        shots: Type.Integer({ minimum: 1 })
      })
    ),
    estimated_cost_usd: usd,
    actual_cost_usd: nullable(usd),
    verdict: nullable(oneOf(verdicts)),
    verification: nullable(anything),
    scheduled_at: nullable(time),
    confirms: nullable(uuid),
    alerted_at: nullable(time),
    created_at: time,
    started_at: nullable(time),
    completed_at: nullable(time)
  },
  { $id: 'CapsuleRun' }
)

export const capsuleRunView = (run: RunRow): Static<typeof CapsuleRun> => ({
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

/** Set once every job has its figure. */
function costOf(tasks: RunTask[]): number | null {
  let sum = 0n
  for (const { actualCost } of tasks) {
    if (actualCost === null) return null
    sum += actualCost
  }
  return usdFromMicro(sum)
}
