// Answers about runs of capsules.
import { Type } from 'typebox'
import { capsuleRunModes, capsuleRunStatuses, capsuleRunTriggers } from '../../../domain/capsules/capsule-state.js'
import { jobStatuses } from '../../../domain/jobs/job-status.js'
import { verdicts } from '../../../domain/verification/verdict.js'
import {
  anything,
  created,
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

export const capsuleRunResponses: ResponseSet = {
  schemas: {
    CapsuleRun: Type.Object({
      id: uuid,
      capsule_id: uuid,
      team_id: uuid,
      mode: oneOf(capsuleRunModes),
      trigger: oneOf(capsuleRunTriggers),
      user_id: nullable(uuid),
      status: oneOf(capsuleRunStatuses),
      reason: nullable(Type.String({ description: 'Why it failed, was cancelled, or was never made' })),
      definition_sha256: Type.String({
        description: 'Of what it ran: that of the capsule, or that with its own parameters'
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
    })
  },
  answers: {
    'POST /api/capsules/:id/run': {
      success: created('The jobs are recorded', Type.Object({ job_id: uuid, capsule_run_id: uuid })),
      errors: ['budget_exceeded', 'spend_limit_exceeded', 'backend_unknown', 'backend_retired', 'backend_unavailable']
    },
    'GET /api/capsules/:id/runs': { success: ok('Runs, newest first', pageOf('runs', 'CapsuleRun')) },
    'GET /api/capsules/:id/runs/:runId': { success: ok('The run', ref('CapsuleRun')) }
  }
}
