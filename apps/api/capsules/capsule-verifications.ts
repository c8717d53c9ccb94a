// Verifications of a capsule: past ones, and past times at which its schedule would have run one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { actorText } from '../../../db/audit/audit.js'
import { backfillRuns, lockTeam } from '../../../db/capsule-runs/scheduled-runs.js'
import { listVerifications, type PastVerification } from '../../../db/capsule-runs/verification-history.js'
import { loadSchedule } from '../../../db/capsules/capsule-schedules.js'
import { validationError } from '../../../domain/errors.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import { driftOf } from '../../../domain/verification/drift.js'
import { dueTimes, readCron } from '../../../domain/verification/schedule.js'
import { BACKFILL_DAYS_MAX, BACKFILL_MAX } from '../../../domain/verification/schedule-names.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, callerOf } from '../http/access.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'
import { json, pageEnd } from '../http/response.js'
import { lockRequestedCapsule, requestedCapsule } from './capsule-access.js'
import { assertVerifiable, noSchedule } from './capsule-schedule.js'
import { Backfill, Drift, PastVerification as Verification, verificationView } from './schedule-view.js'

const CapsuleId = Type.Object({ id: Type.String({ format: 'uuid' }) })

const BackfillBody = Type.Object(
  { from: Type.String({ format: 'date-time' }), to: Type.String({ format: 'date-time' }) },
  { additionalProperties: false }
)

export const capsuleVerificationRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.post(
    '/api/capsules/:id/schedule/backfill',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Run all that the schedule would have run in a past time range, or nothing',
        description: `At most ${BACKFILL_MAX} runs, no further back than ${BACKFILL_DAYS_MAX} days. Times that have a run already are passed over; refused ones are run.`,
        params: CapsuleId,
        body: BackfillBody,
        response: { 201: json('The runs are recorded', Backfill) },
        errors: ['rate_limited', 'budget_exceeded', 'backend_unknown', 'backend_retired', 'backend_unavailable']
      }
    },
    async (request, reply) => {
      const range = readRange(request.body, deps.now())
      return app.writeOnce(request, reply, async ({ tx }) => {
        // The team comes first: scheduled runs lock it before the capsule, too.
        await lockTeam(tx, (await requestedCapsule(tx, request)).teamId)
        const capsule = await lockRequestedCapsule(request, tx, 'schedule')
        assertVerifiable(capsule)
        const schedule = await loadSchedule(tx, capsule.id)
        if (!schedule) throw noSchedule()
        const found = dueTimes(readCron(schedule.cron), schedule.timezone, range.after, BACKFILL_MAX + 1)
        const times = found.filter((time) => time <= range.to)
        if (times.length > BACKFILL_MAX)
          throw validationError(
            `to: the schedule is due more than ${BACKFILL_MAX} times in this range, the ${BACKFILL_MAX}th at ${times[BACKFILL_MAX - 1]!.toISOString()}; choose a shorter one`
          )
        const { user, key } = actorOf(request)
        const { made, passedOver } = await backfillRuns(tx, {
          capsule,
          times,
          owner: { userId: user.id, keyId: key?.id ?? null, keyDailyLimit: key?.dailyLimit ?? null },
          actor: actorText(callerOf(request)),
          at: deps.now(),
          mayUse: ({ pricing }) => assertKeyMayPay(key, pricing)
        })
        return {
          status: 201,
          body: {
            count: made.length,
            passed_over: passedOver,
            runs: made.map(({ runId, scheduledAt }) => ({
              capsule_run_id: runId,
              scheduled_at: scheduledAt.toISOString()
            }))
          }
        }
      })
    }
  )

  app.get(
    '/api/capsules/:id/verifications',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Past verifications of a capsule, newest first, and the drift of their distance',
        description: '`drift` covers the verifications on this page.',
        params: CapsuleId,
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        }),
        response: {
          200: json(
            'The verifications, newest first',
            Type.Object({ verifications: Type.Array(Verification), drift: Drift, ...pageEnd })
          )
        }
      }
    },
    async (request) => {
      const { limit, offset } = request.query
      const { id } = await requestedCapsule(db, request)
      const { rows, total } = await listVerifications(db, id, { limit, offset })
      return {
        verifications: rows.map(verificationView),
        drift: driftOfPage(rows),
        ...pageView(total, { limit, offset })
      }
    }
  )
}

export const driftOfPage = (rows: readonly PastVerification[]) =>
  driftOf(rows.flatMap(({ tvd, completedAt }) => (tvd === null ? [] : [{ tvd, at: completedAt }])))

const DAY_MS = 24 * 3_600_000

/** The range includes both ends. */
export function readRange(body: { from: string; to: string }, now: Date): { after: Date; to: Date } {
  const [from, to] = [new Date(body.from), new Date(body.to)]
  const refuse = (why: string) => validationError(why)
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) throw refuse('from, to: must be times that exist')
  if (from > to) throw refuse(`from: must not be later than to (got ${body.from})`)
  if (to > now) throw refuse(`to: must not be in the future (got ${body.to})`)
  if (now.getTime() - from.getTime() > BACKFILL_DAYS_MAX * DAY_MS)
    throw refuse(`from: must not be longer ago than ${BACKFILL_DAYS_MAX} days (got ${body.from})`)
  return { after: new Date(from.getTime() - 1), to }
}
