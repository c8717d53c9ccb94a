// Asks the provider for the task, once, whatever dies or is lost on the way. AT-LEAST-ONCE: each try takes the intent row;
// only the very first sends without looking first, and a look that finds nothing is believed only when no request can be
// under way any more. Not cancellable from outside: it reads itself whether the job is still wanted.

import type { ProviderRun } from '../../db/provider-runs.js'
import {
  markAccepted,
  markHeard,
  markNotSent,
  markSending,
  markUnknown,
  markWithdrawn,
  type SubmitTry,
  takeForSubmit
} from '../../db/provider-tasks.js'
import { persistently } from '../persistently.js'
import { ProviderFault, type TaskRequest } from '../providers/adapter.js'
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
  type StepEnd
} from './step.js'

/** A try that took its row longer ago may have been overtaken by another. */
const TAKEN_MS_MAX = 30_000

export type Submitted = { next: 'follow' } | StepEnd

export async function submitToProvider(deps: ProviderDeps, context: StepContext): Promise<Submitted> {
  const found = await runningJob(deps, context)
  if ('end' in found) return found.end
  const { job } = found
  if (job.task && job.task.state !== 'intended')
    return job.task.state === 'withdrawn' ? fail('internal_error', 'the task was given up before') : { next: 'follow' }
  const access = await accessOf(deps, job)
  if ('missing' in access) return withoutAccess(deps, context, job, access.missing)
  const { jobId, fence } = context
  const token = clientToken(jobId, '', 1)
  const takenAt = performance.now()
  const attempt = await takeForSubmit(deps.db, jobId, fence, { provider: job.provider, token })
  if (!attempt) return again(0, 'another try has it')
  if (attempt.lastSentAt !== null && !access.adapter.submitsOnce) {
    const looked = await lookFirst(deps, context, access, token, attempt)
    if (looked) return looked
  }
  if (!(await markSending(deps.db, jobId, fence, attempt.number, access.version))) return again(0, 'another try has it')
  const request = await taskRequest(deps, jobId, job, token)
  // Right before the request leaves: a process that stood still for long must not send any more.
  if (performance.now() - takenAt > TAKEN_MS_MAX)
    return again(deps.providerTimes.retryMs, 'this try took too long before it sent')
  return send(deps, context, access, attempt, request)
}

async function send(
  deps: ProviderDeps,
  context: StepContext,
  { adapter, credentials }: Access,
  attempt: SubmitTry,
  request: TaskRequest
): Promise<Submitted> {
  const { db } = deps
  const { jobId, fence } = context
  try {
    return await accepted(deps, context, await adapter.submit(credentials, request, context.signal))
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error
    switch (error.kind) {
      case 'refused':
      case 'not_found':
      case 'unauthorized': {
        const fault = { code: 'provider_refused', message: error.message } as const
        return (await markWithdrawn(db, jobId, fence, fault)) ? { next: 'fail', error: fault } : again(0, 'overtaken')
      }
      case 'busy':
        await markNotSent(db, jobId, attempt)
        return againAfter(deps, error)
      case 'unreachable':
        await markNotSent(db, jobId, attempt)
        return outage(deps, context, attempt, error)
      case 'unclear':
        return againAfter(deps, error)
    }
  }
}

async function accepted(deps: ProviderDeps, { jobId, fence, signal }: StepContext, id: string): Promise<Submitted> {
  const mine = await persistently({ log: deps.log, jobId, signal }, () => markAccepted(deps.db, jobId, fence, id))
  deps.announce(jobId)
  // Whoever has the job now finds the task by its token.
  return mine ? { next: 'follow' } : { next: 'stop' }
}

/** Looks for a task of an earlier try. @returns `null` when there is certainly none, so that it may be sent again. */
async function lookFirst(
  deps: ProviderDeps,
  context: StepContext,
  { adapter, credentials, version }: Access,
  token: string,
  attempt: SubmitTry
): Promise<Submitted | null> {
  try {
    const id = await adapter.find(credentials, token, attempt.createdAt, context.signal)
    await markHeard(deps.db, context.jobId, attempt.number)
    if (id !== null) return accepted(deps, context, id)
    if ((attempt.secondsSinceSent ?? 0) < deps.providerTimes.lookUpWindowSeconds)
      return again(
        deps.providerTimes.retryMs,
        `${adapter.name} has no such task yet; an earlier request may still be under way`
      )
    if (attempt.sentWith !== version) return otherAccount(deps, context)
    return null
  } catch (error) {
    return outage(deps, context, attempt, error)
  }
}

/** What these credentials do not show may have been accepted under those it was sent with. */
async function otherAccount(deps: ProviderDeps, { jobId, fence }: StepContext): Promise<Submitted> {
  await markUnknown(deps.db, jobId, fence)
  return fail(
    'provider_outcome_unknown',
    "the task was sent, its answer was lost, and the team's credentials were changed before it could be looked up"
  )
}

/** Waits the provider out, for a day of one unbroken silence. */
async function outage(
  deps: ProviderDeps,
  { jobId, fence }: StepContext,
  attempt: SubmitTry,
  error: unknown
): Promise<Submitted> {
  const wait = againAfter(deps, error)
  if (attempt.secondsSilent < deps.providerTimes.outageSeconds) return wait
  const hours = Math.round(deps.providerTimes.outageSeconds / 3600)
  if (attempt.lastSentAt === null) {
    const fault = { code: 'provider_unreachable', message: `no answer for ${hours} hours: ${wait.why}` } as const
    return (await markWithdrawn(deps.db, jobId, fence, fault)) ? { next: 'fail', error: fault } : again(0, 'overtaken')
  }
  await markUnknown(deps.db, jobId, fence)
  return fail(
    'provider_outcome_unknown',
    `the task was sent, and for ${hours} hours nobody could say whether it was accepted: ${wait.why}`
  )
}

/** Before anything was sent the job fails; afterwards somebody may put the credentials back. */
async function withoutAccess(
  deps: ProviderDeps,
  context: StepContext,
  job: ProviderRun,
  missing: string
): Promise<Submitted> {
  if (job.task?.lastSentAt) return again(60_000, missing)
  await markWithdrawn(deps.db, context.jobId, context.fence, { code: 'provider_refused', message: missing })
  return fail('provider_refused', missing)
}

async function taskRequest(deps: ProviderDeps, jobId: string, job: ProviderRun, token: string): Promise<TaskRequest> {
  const program = programOf(await compiledProgram(deps, jobId))
  return { token, target: job.target!, program, shots: job.shots, name: job.name ?? `job ${jobId}` }
}
