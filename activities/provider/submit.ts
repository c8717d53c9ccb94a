// Submits to the provider exactly once, whatever process or message is lost. AT-LEAST-ONCE: each try takes the intent row;
// only the first try sends without a look-up, and a look-up that finds nothing is trusted only when no earlier submission
// can be under way. Not cancellable from outside: it reads itself whether the job is still to run.

import {
  markAccepted,
  markNotSent,
  markSending,
  markUnknown,
  markWithdrawn,
  maySend,
  type OwnSubmitTry,
  recordProviderResponse,
  takeForSubmit
} from '../../db/provider-jobs/provider-jobs.js'
import type { ProviderRef } from '../../db/provider-jobs/provider-refs.js'
import type { ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import { recordBudgetExceeded } from '../../db/teams/webhook-deliveries.js'
import { codeOf, isErrorCode, type ServiceError } from '../../domain/errors.js'
import type { BudgetRefusal } from '../../domain/money/budget.js'
import { estimateCost } from '../../domain/money/cost.js'
import type { MicroUsd } from '../../domain/money/money.js'
import { ProviderFault, type ProviderJobRequest } from '../../services/providers/adapter.js'
import { retryWhileDatabaseAway } from '../job/retry-while-database-away.js'
import { compiledProgram, programOf } from './prepare.js'
import {
  type Access,
  accessOf,
  again,
  againAfter,
  clientToken,
  fail,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd,
  sentWithOthers
} from './step.js'

/** A try that took its row longer ago may have lost it to another. */
const TAKEN_SECONDS_MAX = 30

export type Submitted = { next: 'follow' } | StepEnd

export async function submitToProvider(deps: ProviderDeps, context: StepContext): Promise<Submitted> {
  const found = await runningJob(deps, context)
  if ('end' in found) return found.end
  const { job } = found
  if (job.task && job.task.state !== 'intended')
    return job.task.state === 'withdrawn' ? withdrawn(job.task) : { next: 'follow' }
  const access = await accessOf(deps, job)
  if ('missing' in access) return withoutAccess(deps, context, job, access.missing)
  const { ref, fence } = context
  const token = clientToken(ref)
  // Before the intent is taken: a fault here must not look like a request that may have been sent.
  const request = await taskRequest(deps, ref, job, token)
  const attempt = await taken(deps, context, job, token)
  if (attempt && 'next' in attempt) return attempt
  if (!attempt) return again(0, 'another try has the submission')
  if (attempt.lastSentAt !== null && !access.adapter.submitsOnce) {
    const looked = await lookFirst(deps, context, access, token, attempt)
    if (looked) return looked
  }
  if (!(await markSending(deps.db, ref, fence, attempt.number, access.version)))
    return again(0, 'another try has the submission')
  // By the database's clock, right before the request: a process that was suspended must not send, and its own monotonic
  // clock may have stood still. The wall clock shows a suspension during this check.
  const lookedAt = Date.now()
  const fresh = await maySend(deps.db, ref, attempt.number, TAKEN_SECONDS_MAX)
  if (!fresh || Date.now() - lookedAt > TAKEN_SECONDS_MAX * 1_000)
    return again(deps.providerTimes.retryMs, 'this try took too long before it sent')
  return send(deps, context, access, attempt, request)
}

/** Takes the intent row, and reserves the money for a requested circuit; a refusal by the budget is final. */
async function taken(
  deps: ProviderDeps,
  { ref, fence }: StepContext,
  job: ProviderRun,
  token: string
): Promise<OwnSubmitTry | StepEnd | null> {
  const { provider, teamId, backend } = job
  try {
    if (!ref.asked) return await takeForSubmit(deps.db, ref, fence, { provider, token })
    const estimate = priceOf(job)
    if (estimate === null) return fail('backend_unavailable', `${backend} is not in the catalogue any more`)
    return await takeForSubmit(deps.db, ref, fence, { provider, token, estimate })
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'budget_exceeded' && code !== 'spend_limit_exceeded') throw error
    const { message, cause } = error as ServiceError
    await recordBudgetExceeded(deps.db, { teamId, backend, refusal: cause as BudgetRefusal })
    return fail(code, `the circuit was not sent to ${provider}: ${message}`)
  }
}

/** The present price of a requested circuit. */
function priceOf({ pricing, shots }: ProviderRun): MicroUsd | null {
  const { taskFee, perShot, minimumCost } = pricing ?? {}
  if (taskFee == null || perShot == null || minimumCost == null) return null
  return estimateCost({ taskFee, perShot, minimumCost }, shots)
}

/** The reason was recorded when the submission was withdrawn. */
const withdrawn = ({ errorCode, errorMessage }: NonNullable<ProviderRun['task']>): StepEnd =>
  fail(isErrorCode(errorCode) ? errorCode : 'internal_error', errorMessage ?? 'the task was given up before')

async function send(
  deps: ProviderDeps,
  context: StepContext,
  { adapter, credentials }: Access,
  attempt: OwnSubmitTry,
  request: ProviderJobRequest
): Promise<Submitted> {
  const { db } = deps
  const { ref, fence } = context
  try {
    return await accepted(deps, context, await adapter.submit(credentials, request, context.signal))
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    switch (error.kind) {
      case 'refused':
      case 'not_found':
      case 'unauthorized': {
        const fault = { code: 'provider_refused', message: error.message } as const
        return (await markWithdrawn(db, ref, fence, fault)) ? { next: 'fail', error: fault } : again(0, 'overtaken')
      }
      case 'busy':
        await markNotSent(db, ref, attempt)
        return againAfter(deps, error)
      case 'unreachable':
        await markNotSent(db, ref, attempt)
        return outage(deps, context, attempt, error)
      case 'unclear':
        return againAfter(deps, error)
    }
  }
}

async function accepted(deps: ProviderDeps, { ref, fence, signal }: StepContext, id: string): Promise<Submitted> {
  const { jobId } = ref
  const mine = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () =>
    markAccepted(deps.db, ref, fence, id)
  )
  deps.announce(jobId)
  // The worker that has the claim now finds the provider job by its token.
  return mine ? { next: 'follow' } : { next: 'stop' }
}

/**
 * Looks for the submission of an earlier try.
 * @returns `null` when there is certainly none, so that it can be sent again.
 */
async function lookFirst(
  deps: ProviderDeps,
  context: StepContext,
  { adapter, credentials, version }: Access,
  token: string,
  attempt: OwnSubmitTry
): Promise<Submitted | null> {
  try {
    const id = await adapter.find(credentials, token, attempt.createdAt, context.signal)
    await recordProviderResponse(deps.db, context.ref, attempt.number)
    if (id !== null) return attempt.mayBeAnother ? anotherCircuit(deps, context) : accepted(deps, context, id)
    if ((attempt.secondsSinceSent ?? 0) < deps.providerTimes.lookUpWindowSeconds)
      return again(
        deps.providerTimes.retryMs,
        `${adapter.name} has no such task yet; an earlier request may still be under way`
      )
    if (sentWithOthers(attempt, { version })) return otherAccount(deps, context)
    return null
  } catch (error) {
    return outage(deps, context, attempt, error)
  }
}

/** The provider has a job of this request, from before the database was restored. A script may request another circuit now. */
async function anotherCircuit(deps: ProviderDeps, { ref, fence }: StepContext): Promise<Submitted> {
  await markUnknown(deps.db, ref, fence)
  return fail(
    'provider_outcome_unknown',
    'the database was restored from a backup, the provider already has a circuit of this request, and it may be another one; submit the job again'
  )
}

/** These credentials may belong to another account than those of the submission. */
async function otherAccount(deps: ProviderDeps, { ref, fence }: StepContext): Promise<Submitted> {
  await markUnknown(deps.db, ref, fence)
  return fail(
    'provider_outcome_unknown',
    "the task was sent, its answer was lost, and the team's credentials were changed before it could be looked up"
  )
}

/** Waits while the provider is away, for up to a day of one unbroken silence. */
async function outage(
  deps: ProviderDeps,
  { ref, fence }: StepContext,
  attempt: OwnSubmitTry,
  error: unknown
): Promise<Submitted> {
  const wait = againAfter(deps, error)
  if (attempt.secondsSilent < deps.providerTimes.outageSeconds) return wait
  const hours = Math.round(deps.providerTimes.outageSeconds / 3600)
  if (attempt.lastSentAt === null) {
    const fault = { code: 'provider_unreachable', message: `no answer for ${hours} hours: ${wait.why}` } as const
    return (await markWithdrawn(deps.db, ref, fence, fault)) ? { next: 'fail', error: fault } : again(0, 'overtaken')
  }
  await markUnknown(deps.db, ref, fence)
  return fail(
    'provider_outcome_unknown',
    `the task was sent, and for ${hours} hours it was unknown whether it was accepted: ${wait.why}`
  )
}

/**
 * Before anything was sent, the job fails and its money is released. Afterwards it waits for the team to restore the
 * credentials, for as long as for a silent provider; then its money stays held.
 */
async function withoutAccess(
  deps: ProviderDeps,
  { ref, fence }: StepContext,
  job: ProviderRun,
  missing: string
): Promise<Submitted> {
  if (job.secondsSent !== null) {
    if (job.secondsSent < deps.providerTimes.outageSeconds) return again(60_000, missing)
    await markUnknown(deps.db, ref, fence)
    return fail('provider_outcome_unknown', `the task was sent, and its outcome could not be looked up: ${missing}`)
  }
  await markWithdrawn(deps.db, ref, fence, { code: 'provider_refused', message: missing })
  return fail('provider_refused', missing)
}

async function taskRequest(
  deps: ProviderDeps,
  ref: ProviderRef,
  job: ProviderRun,
  token: string
): Promise<ProviderJobRequest> {
  const program = programOf(await compiledProgram(deps, ref))
  return { token, target: job.target!, program, shots: job.shots, name: job.name ?? `job ${ref.jobId}` }
}
