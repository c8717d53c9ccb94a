// An execution that the executor accepted.
import { type Static, Type } from 'typebox'
import type { AttemptRow } from '../../../db/jobs/attempts.js'
import { attemptStates } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { count, nullable, text, time, usd } from '../http/response.js'
import { Failure, failureView } from './failure-view.js'
import { taskKeyOf } from './task-view.js'

export const Attempt = Type.Object(
  {
    task_id: nullable(text),
    task: text,
    number: Type.Integer({ minimum: 1 }),
    state: oneOf(attemptStates),
    started_at: time,
    ended_at: nullable(time),
    error: Failure,
    backoff_ms: nullable(count),
    provider_job_id: nullable(text),
    cost_usd: nullable(usd)
  },
  { $id: 'Attempt' }
)

export const attemptView = (attempt: AttemptRow): Static<typeof Attempt> => ({
  task_id: attempt.task || null,
  task: taskKeyOf(attempt.task),
  number: attempt.number,
  state: attempt.state,
  started_at: attempt.startedAt.toISOString(),
  ended_at: attempt.endedAt?.toISOString() ?? null,
  error: failureView(attempt),
  backoff_ms: attempt.backoffMs,
  provider_job_id: attempt.providerJobId,
  cost_usd: attempt.cost === null ? null : usdFromMicro(attempt.cost)
})
