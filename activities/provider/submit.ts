// Submits to the provider exactly once, whatever process or message is lost. AT-LEAST-ONCE: each try takes the intent row;
// only the first try sends without a look-up, and a look-up that finds nothing is trusted only when no earlier submission
// can be under way. Not cancellable from outside: it reads itself whether the job is still to run.

import {
  markAccepted,
  markDeviceAway,
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
import type { Place } from '../../domain/backends/provider-job.js'
import { codeOf, isErrorCode, type JobError, type ServiceError } from '../../domain/errors.js'
import type { BudgetRefusal } from '../../domain/money/budget.js'
import { type CircuitPrice, circuitPrice } from '../../domain/money/charge.js'
import { estimateCost } from '../../domain/money/cost.js'
import { formatUsd, type MicroUsd } from '../../domain/money/money.js'
import {
  finalFaults,
  type PaidRequest,
  ProviderFault,
  type ProviderJobRequest
} from '../../services/providers/adapter.js'
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
  sentWithOthers,
  unpricedSeconds,
  waiting,
  withinRate
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
  const access = await accessOf(deps, { ...job, place: job.task?.place ?? null })
  if ('missing' in access) return withoutAccess(deps, context, job, access.missing)
  const { ref } = context
  const token = clientToken(ref)
  // Before the intent is taken: a fault here must not look like a request that may have been sent.
  const request = await taskRequest(deps, ref, job, token)
  const attempt = await taken(deps, context, job, token)
  if (attempt && 'next' in attempt) return attempt
  if (!attempt) return again(0, 'another try has the submission')
  const staged = await stage(deps, context, access, job, attempt, request)
  return 'next' in staged ? staged : send(deps, context, attempt, staged)
}

/** What the one paid request needs. */
interface Ready {
  place: Place
  /** On a device that is billed by time, that of its cap. */
  price: CircuitPrice | null
  version: string
  submit: PaidRequest
}

/** Everything before the paid request: the look for that of an earlier try, and what the provider needs first. */
async function stage(
  deps: ProviderDeps,
  context: StepContext,
  access: Access,
  job: ProviderRun,
  attempt: OwnSubmitTry,
  request: ProviderJobRequest
): Promise<Ready | Submitted> {
  const { adapter, version } = access
  const { credentials } = access.at
  /** Nothing of an earlier try can be at the provider. */
  let isFirst = attempt.lastSentAt === null
  try {
    const present = await adapter.place(credentials, request.target, context.signal)
    if (attempt.lastSentAt !== null) {
      const others = sentWithOthers(attempt, { version, account: present.account })
      if (others && present.account !== undefined) return await otherPlace(deps, context, attempt, present.account)
      // Whatever the provider does with a token that it knows: another account does not know it.
      if (others || !adapter.submitsOnce) {
        const looked = await lookFirst(deps, context, access, request, attempt, others)
        if (looked) return looked
        isFirst = true
      }
    }
    // The price can have been removed since the circuit was compiled.
    const problem = isFirst ? (unpricedSeconds(deps, adapter, job) ?? priceProblem(job, attempt)) : null
    if (problem) return await withdraw(deps, context, problem)
    const place = isFirst ? present : (attempt.place ?? present)
    // A repeated request is the same one, with the same cap.
    const price = isFirst ? job.pricing && circuitPrice(job.pricing, job.shots) : attempt.price
    const later = await withinRate(deps, adapter, job.teamId, 'submit')
    if (later) return later
    const capped = price ? { ...request, secondsMax: price.secondsMax } : request
    return { place, price, version, submit: await adapter.stage({ credentials, place }, capped, context.signal) }
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    if (!isFirst) return outage(deps, context, attempt, error)
    return notAccepted(deps, context, { ...attempt, lastSentAt: null }, error)
  }
}

async function send(
  deps: ProviderDeps,
  context: StepContext,
  attempt: OwnSubmitTry,
  { place, price, version, submit }: Ready
): Promise<Submitted> {
  const { ref, fence } = context
  if (!(await markSending(deps.db, ref, fence, attempt.number, version, place, price)))
    return again(0, 'another try has the submission')
  // By the database's clock, right before the request: a process that was suspended must not send, and its own monotonic
  // clock may have stood still. The wall clock shows a suspension during this check.
  const lookedAt = Date.now()
  const fresh = await maySend(deps.db, ref, attempt.number, TAKEN_SECONDS_MAX)
  if (!fresh || Date.now() - lookedAt > TAKEN_SECONDS_MAX * 1_000)
    return again(deps.providerTimes.retryMs, 'this try took too long before it sent')
  try {
    return await accepted(deps, context, await submit(context.signal))
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    if (error.kind === 'unclear') return waiting(deps, ref, againAfter(deps, error))
    if (!finalFaults.has(error.kind)) await markNotSent(deps.db, ref, attempt)
    return notAccepted(deps, context, attempt, error)
  }
}

/** After a fault that says that this try's request was not accepted. */
async function notAccepted(
  deps: ProviderDeps,
  context: StepContext,
  attempt: OwnSubmitTry,
  error: ProviderFault
): Promise<Submitted> {
  const { ref } = context
  if (finalFaults.has(error.kind)) {
    const code = error.kind === 'retired' ? 'backend_retired' : 'provider_refused'
    return withdraw(deps, context, { code, message: error.message })
  }
  if (error.kind === 'unreachable' || error.kind === 'unclear') return outage(deps, context, attempt, error)
  const wait = againAfter(deps, error, attempt.number)
  // A device that is away for a month has refused nothing.
  if (error.kind === 'offline') await markDeviceAway(deps.db, ref, attempt.number)
  else if (isTriedTooLong(deps, attempt)) return neverAccepted(deps, context, attempt, wait.why)
  return waiting(deps, ref, wait)
}

async function withdraw(deps: ProviderDeps, { ref, fence }: StepContext, fault: JobError): Promise<Submitted> {
  return (await markWithdrawn(deps.db, ref, fence, fault)) ? { next: 'fail', error: fault } : again(0, 'overtaken')
}

const isTriedTooLong = ({ providerTimes }: ProviderDeps, { secondsTrying }: OwnSubmitTry): boolean =>
  secondsTrying > providerTimes.outageSeconds

/** The provider has answered for a day, and accepted nothing. A request that may have arrived is looked up first. */
async function neverAccepted(
  deps: ProviderDeps,
  context: StepContext,
  { lastSentAt }: OwnSubmitTry,
  why: string
): Promise<Submitted> {
  if (lastSentAt !== null) return again(deps.providerTimes.retryMs, why)
  const hours = Math.round(deps.providerTimes.outageSeconds / 3600)
  return withdraw(deps, context, { code: 'provider_unreachable', message: `not accepted for ${hours} hours: ${why}` })
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
    const { emulated } = deps
    if (!ref.asked) return await takeForSubmit(deps.db, ref, fence, { provider, token, emulated })
    const estimate = priceOf(job)
    if (estimate === null) return fail('backend_unavailable', `${backend} is not in the catalogue any more`)
    return await takeForSubmit(deps.db, ref, fence, { provider, token, emulated, estimate })
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'budget_exceeded' && code !== 'spend_limit_exceeded') throw error
    const { message, cause } = error as ServiceError
    await recordBudgetExceeded(deps.db, { teamId, backend, refusal: cause as BudgetRefusal })
    return fail(code, `the circuit was not sent to ${provider}: ${message}`)
  }
}

/** The present price of a requested circuit. */
const priceOf = ({ pricing, shots }: ProviderRun): MicroUsd | null => pricing && estimateCost(pricing, shots)

/**
 * Why the circuit is not sent at the present price. On a device that is billed by time, the cap that is sent must cost no
 * more than was reserved. `null` when it does not.
 */
function priceProblem({ backend, pricing, shots }: ProviderRun, { reserved }: OwnSubmitTry): JobError | null {
  const due = pricing?.byTime ? estimateCost(pricing, shots) : 0n
  if (due <= reserved) return null
  const message =
    `the price of ${backend} rose before the circuit was sent: ${formatUsd(reserved)} was reserved, ` +
    `${formatUsd(due)} would be due; submit again to accept the new price`
  return { code: 'price_changed', message }
}

/** The reason was recorded when the submission was withdrawn. */
const withdrawn = ({ errorCode, errorMessage }: NonNullable<ProviderRun['task']>): StepEnd =>
  fail(isErrorCode(errorCode) ? errorCode : 'internal_error', errorMessage ?? 'the task was given up before')

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
  { adapter, at }: Access,
  task: Pick<ProviderJobRequest, 'token' | 'target'>,
  attempt: OwnSubmitTry,
  others: boolean
): Promise<Submitted | null> {
  const id = await adapter.find(at, task, attempt.createdAt, context.signal)
  await recordProviderResponse(deps.db, context.ref, attempt.number)
  if (id !== null) return attempt.mayBeAnother ? anotherCircuit(deps, context) : accepted(deps, context, id)
  if ((attempt.secondsSinceSent ?? 0) < deps.providerTimes.lookUpWindowSeconds)
    return again(
      deps.providerTimes.retryMs,
      `${adapter.name} has no such task yet; an earlier request may still be under way`
    )
  if (others) return otherAccount(deps, context)
  if (isTriedTooLong(deps, attempt))
    return neverAccepted(
      deps,
      context,
      { ...attempt, lastSentAt: null },
      `${adapter.name} answered without accepting it`
    )
  return null
}

/** Credentials of another account cannot show whether the request arrived: the team can store those of the first. */
async function otherPlace(
  deps: ProviderDeps,
  context: StepContext,
  attempt: OwnSubmitTry,
  present: string
): Promise<Submitted> {
  const sent = attempt.place?.account
  const why = `the task was sent with credentials of ${sent}, and the team's are now of ${present}: store those of ${sent} again, so that it can be looked up`
  return outage(deps, context, attempt, new ProviderFault('unauthorized', why))
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
  context: StepContext,
  attempt: OwnSubmitTry,
  error: unknown
): Promise<Submitted> {
  const { ref, fence } = context
  const wait = againAfter(deps, error)
  if (attempt.secondsSilent < deps.providerTimes.outageSeconds) return waiting(deps, ref, wait)
  const hours = Math.round(deps.providerTimes.outageSeconds / 3600)
  if (attempt.lastSentAt === null) {
    return withdraw(deps, context, {
      code: 'provider_unreachable',
      message: `no answer for ${hours} hours: ${wait.why}`
    })
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
    if (job.secondsSent < deps.providerTimes.outageSeconds) return waiting(deps, ref, again(60_000, missing))
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
