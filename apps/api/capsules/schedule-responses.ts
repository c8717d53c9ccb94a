// Answers about schedules of capsules and what their verifications have said.
import { Type } from 'typebox'
import { capsuleRunStatuses, capsuleRunTriggers } from '../../../domain/capsules/capsule-state.js'
import { alertOutcomes } from '../../../domain/verification/schedule-names.js'
import { verdicts } from '../../../domain/verification/verdict.js'
import {
  count,
  created,
  done,
  nullable,
  ok,
  oneOf,
  pageOf,
  type ResponseSet,
  ref,
  text,
  time,
  uuid
} from '../http/response-schema.js'

const distance = nullable(Type.Number({ minimum: 0 }))

export const capsuleScheduleResponses: ResponseSet = {
  schemas: {
    CapsuleSchedule: Type.Object({
      capsule_id: uuid,
      cron: text,
      timezone: text,
      paused: Type.Boolean(),
      alert: Type.Object({ emails: Type.Array(text), on: Type.Array(oneOf(alertOutcomes)) }),
      next_runs: Type.Array(time, { description: 'The next five; none while it is paused' }),
      last_run: nullable(
        Type.Object({
          capsule_run_id: uuid,
          trigger: oneOf(capsuleRunTriggers),
          scheduled_at: nullable(time),
          status: oneOf(capsuleRunStatuses),
          verdict: nullable(oneOf(verdicts)),
          reason: nullable(text)
        })
      ),
      engine: Type.Object({
        state: oneOf(['applied', 'pending', 'refused']),
        reason: nullable(Type.String({ description: 'Why Temporal does not take the schedule' }))
      }),
      created_at: time,
      updated_at: time
    }),
    PastVerification: Type.Object({
      capsule_run_id: uuid,
      trigger: oneOf(capsuleRunTriggers),
      scheduled_at: nullable(time),
      completed_at: time,
      verdict: oneOf(verdicts),
      tvd: distance,
      tvd_upper: distance,
      margin: distance,
      p_value: nullable(Type.Number({ minimum: 0, maximum: 1 })),
      alerted_at: nullable(time)
    })
  },
  answers: {
    'PUT /api/capsules/:id/schedule': {
      success: ok('The schedule', ref('CapsuleSchedule')),
      errors: ['not_available']
    },
    'GET /api/capsules/:id/schedule': { success: ok('The schedule', ref('CapsuleSchedule')) },
    'DELETE /api/capsules/:id/schedule': { success: done },
    'POST /api/capsules/:id/schedule/backfill': {
      success: created(
        'The runs are recorded',
        Type.Object({
          count,
          passed_over: Type.Integer({ minimum: 0, description: 'Times that had a run already' }),
          runs: Type.Array(Type.Object({ capsule_run_id: uuid, scheduled_at: time }))
        })
      ),
      errors: ['rate_limited', 'budget_exceeded', 'backend_unknown', 'backend_retired', 'backend_unavailable']
    },
    'GET /api/capsules/:id/verifications': {
      success: ok(
        'The verifications, newest first',
        pageOf('verifications', 'PastVerification', {
          drift: nullable(
            Type.Object({
              points: count,
              mean: Type.Number(),
              min: Type.Number(),
              max: Type.Number(),
              per_30_days: nullable(Type.Number()),
              standard_error: nullable(Type.Number())
            })
          )
        })
      )
    }
  }
}
