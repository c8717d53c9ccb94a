// Records a job for whoever asks: what their key may pay, their team, the limits, then the job itself. Every route that makes
// jobs goes through here.
import type { FastifyRequest } from 'fastify'
import type { ApiKey } from '../../db/api-keys.js'
import { createJob } from '../../db/jobs.js'
import { reaches } from '../../domain/api-key.js'
import type { Backend } from '../../domain/backend.js'
import { isFree, type Pricing } from '../../domain/cost.js'
import { ServiceError } from '../../domain/errors.js'
import type { Submission } from '../../domain/submission.js'
import type { ApiDeps } from './deps.js'
import { takeLimit } from './limiter.js'
import { actorOf, callerOf, teamForWrite } from './plugins/access.js'

/**
 * @returns the job's id, once it is recorded.
 * @throws ServiceError `permission_denied` for a key, `not_found` (team), `team_suspended`, `rate_limited`,
 * `budget_exceeded`, `spend_limit_exceeded`.
 */
export async function submitJob(
  deps: ApiDeps,
  request: FastifyRequest,
  submission: Submission,
  backend: Backend
): Promise<string> {
  const { key } = actorOf(request)
  assertKeyMayPay(key, backend.pricing)
  // Outside the transaction that records the job: it holds a connection, and a limit asks another store.
  const teamId = await teamForWrite(request, deps.db, submission.teamId)
  await takeLimit(deps.limiter, request, 'submitTeam', teamId).catch(async (refusal) => {
    await request.giveBackSlot()
    throw refusal
  })
  return createJob(
    deps.db,
    { ...submission, teamId },
    { caller: callerOf(request), keyDailyLimit: key?.dailyLimit ?? null, backend, at: deps.now() }
  )
}

function assertKeyMayPay(key: ApiKey | null, pricing: Pricing): void {
  if (!key || isFree(pricing)) return
  if (key.kind === 'test')
    throw new ServiceError('permission_denied', 'A test key runs on free backends only; use a live key of tier qpu')
  if (!reaches(key.tier, 'qpu'))
    throw new ServiceError(
      'permission_denied',
      `Paid backends need an API key of tier qpu (this one has tier ${key.tier})`
    )
}
