// Records a job: checks what the caller's key can pay, the team and the limits, then creates the job. Every route that creates
// jobs uses it.

import type { FastifyRequest } from 'fastify'
import { isAddressProved } from '../../../db/accounts/accounts.js'
import { assertFits } from '../../../db/backends/backends.js'
import { assertCredentials } from '../../../db/backends/provider-workers.js'
import { newId } from '../../../db/ids.js'
import { createJobAtOnce } from '../../../db/submissions/create-at-once.js'
import { createJob, estimateOf, RECORDED_FIRST_BYTES, submissionBytes } from '../../../db/submissions/create-job.js'
import { recordBudgetExceeded } from '../../../db/teams/webhook-deliveries.js'
import { type Backend, isAtProvider } from '../../../domain/backends/backend.js'
import { type ErrorCode, ServiceError } from '../../../domain/errors.js'
import { widthOfSource } from '../../../domain/jobs/declared-width.js'
import type { JobSource, SavedScript, Submission } from '../../../domain/jobs/submission.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, callerOf, ownTeamOf, teamForWrite, userOf } from '../http/access.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'
import { takeEmailLimit, takeTeamLimit } from '../http/limits/limiter.js'
import type { AnyResponse, Write, WriteAtOnce } from '../http/write-once.js'
import { sourceOfScript } from '../scripts/saved-script.js'

/** The refusals of a submission that its money and its backend cause. */
export const submitErrors = [
  'budget_exceeded',
  'spend_limit_exceeded',
  'storage_limit_exceeded',
  'backend_unknown',
  'backend_retired',
  'backend_unavailable'
] as const satisfies ErrorCode[]

/**
 * Records a job in the transaction of a write. The team's limit is taken inside it, once the caller is known to belong to
 * the team: the store of limits responds, or is skipped, within 100 ms.
 * @returns the job's id.
 * @throws ServiceError `permission_denied` for a key, `not_found` (team, script), `team_suspended`,
 * `analysis_mismatch`, `validation_error` (of a saved script), `rate_limited`, `budget_exceeded`, `spend_limit_exceeded`.
 */
export async function submitJob(
  deps: ApiDeps,
  request: FastifyRequest,
  { tx, afterCommit, afterRollback }: Write,
  submission: Submission<JobSource | SavedScript>,
  backend: Backend
): Promise<string> {
  const { key } = actorOf(request)
  request.submission = { mode: submission.mode, backend: backend.slug }
  assertKeyMayPay(key, backend.pricing)
  if (submission.notify && !deps.mailer.sends)
    throw new ServiceError('not_available', 'notify: this service sends no mail; its operator has to set SMTP_URL')
  const teamId = await teamForWrite(request, tx, submission.teamId)
  if (submission.notify) await takeMailSlot(deps, request, { tx, afterRollback })
  await assertCredentials(tx, teamId, backend)
  const { source, qubits } =
    submission.source.kind === 'saved'
      ? await sourceOfScript(tx, callerOf(request), submission.source, {
          ...submission,
          teamId,
          pricing: backend.pricing
        })
      : { source: submission.source, qubits: widthOfSource(submission.source) }
  await assertFits(tx, backend, qubits, { source, params: submission.params.value })
  await takeJobsOfTeam(deps, request, { afterRollback }, teamId, 1)
  const jobId = await createJob(
    tx,
    { ...submission, source, teamId },
    {
      caller: callerOf(request),
      keyDailyLimit: key?.dailyLimit ?? null,
      backend,
      at: deps.now(),
      ...originOf(request),
      refused: (refusal) =>
        afterRollback(() => recordBudgetExceeded(deps.db, { teamId, backend: backend.slug, refusal }))
    }
  )
  afterCommit(() => noteRecorded(request, { jobId, teamId }))
  return jobId
}

/**
 * Records a job as `submitJob` does, in one statement: a free one of the caller's own team, which most are.
 * @param responseTo makes the response, by the id of the job.
 * @returns `null` where this way is not open, or something refuses the job. Then nothing is recorded.
 * @throws ServiceError `validation_error`, `rate_limited`.
 */
export async function submitAtOnce<Response extends AnyResponse>(
  deps: ApiDeps,
  request: FastifyRequest,
  { answered, afterCommit, afterRollback }: WriteAtOnce,
  submission: Submission<JobSource | SavedScript>,
  backend: Backend,
  responseTo: (jobId: string) => Response
): Promise<Response | null> {
  const { source } = submission
  assertKeyMayPay(actorOf(request).key, backend.pricing)
  const teamId = ownTeamOf(request, submission.teamId)
  if (teamId === null || source.kind === 'saved' || submission.notify || isAtProvider(backend)) return null
  const job = { ...submission, source, teamId, id: newId(), estimate: estimateOf(submission, backend) }
  if (job.estimate !== 0n || submissionBytes(job) > RECORDED_FIRST_BYTES) return null
  await assertFits(deps.db, backend, widthOfSource(source), { source, params: submission.params.value })
  await takeJobsOfTeam(deps, request, { afterRollback }, teamId, 1)
  const { userId, key } = callerOf(request)
  const response = responseTo(job.id)
  const by = { owner: { userId, keyId: key?.id ?? null }, backend, ...originOf(request) }
  if (!(await createJobAtOnce(deps.db, job, by, answered(response)))) return null
  afterCommit(() => noteRecorded(request, { jobId: job.id, teamId }))
  return response
}

/** The request that a job comes from, and its place in a trace. */
const originOf = ({ id, span }: FastifyRequest) => ({ requestId: id, traceParent: span?.traceParent ?? null })

function noteRecorded(request: FastifyRequest, recorded: { jobId: string; teamId: string }): void {
  request.submission = { ...request.submission!, recorded }
}

/**
 * Limits mails to an unproved address: the account may have been made with the address of another person.
 * @throws ServiceError `rate_limited`.
 */
async function takeMailSlot(
  { limiter }: Pick<ApiDeps, 'limiter'>,
  request: FastifyRequest,
  { tx, afterRollback }: Pick<Write, 'tx' | 'afterRollback'>
): Promise<void> {
  const { email } = userOf(request)
  if (!(await isAddressProved(tx, email))) afterRollback(await takeEmailLimit(limiter, email, 'unprovedJobMail'))
}

/**
 * Counts jobs against the team's limit of a day. Only recorded jobs count, not attempts to submit one.
 * @throws ServiceError `rate_limited`, after which none is counted.
 */
export async function takeJobsOfTeam(
  { limiter }: Pick<ApiDeps, 'limiter'>,
  request: FastifyRequest,
  { afterRollback }: Pick<Write, 'afterRollback'>,
  teamId: string,
  jobs: number
): Promise<void> {
  for (let taken = 0; taken < jobs; taken++) {
    const giveBack = await takeTeamLimit(limiter, teamId, 'submitTeam').catch(async (refusal) => {
      await request.giveBackSlot()
      throw refusal
    })
    afterRollback(giveBack)
  }
}
