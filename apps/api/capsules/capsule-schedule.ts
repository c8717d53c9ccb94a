// A capsule's schedule of verifications, and what they have said: /api/capsules/:id/schedule, /api/capsules/:id/verifications.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { actorText } from '../../../db/audit/audit.js'
import { findBackend } from '../../../db/backends/backends.js'
import { backfillRuns, lockTeam } from '../../../db/capsule-runs/scheduled-runs.js'
import { listVerifications } from '../../../db/capsule-runs/verification-history.js'
import { recordCapsuleChange } from '../../../db/capsules/capsule-changes.js'
import { endSchedule, lastScheduledRun, loadSchedule, putSchedule } from '../../../db/capsules/capsule-schedules.js'
import type { CapsuleRow } from '../../../db/capsules/capsules.js'
import type { Tx } from '../../../db/client.js'
import { membersByAddress } from '../../../db/teams/members.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import { isFree } from '../../../domain/money/cost.js'
import { driftOf } from '../../../domain/verification/drift.js'
import { CRON_MAX, dueTimes, readCron, readTimezone, TIMEZONE_MAX } from '../../../domain/verification/schedule.js'
import {
  ALERT_EMAILS_MAX,
  alertOutcomes,
  BACKFILL_DAYS_MAX,
  BACKFILL_MAX,
  usualAlertOutcomes
} from '../../../domain/verification/schedule-names.js'
import type { ApiDeps } from '../deps.js'
import { type Actor, actorOf, callerOf, userOf } from '../http/access.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'
import { lockRequestedCapsule, requestedCapsule } from './capsule-access.js'
import { scheduleView, verificationView } from './schedule-view.js'

const CapsuleId = Type.Object({ id: Type.String({ format: 'uuid' }) })

const ScheduleBody = Type.Object(
  {
    cron: Type.String({
      minLength: 1,
      maxLength: CRON_MAX,
      description: 'Five fields: minute, hour, day of the month, month, day of the week; or @daily and the like'
    }),
    timezone: Type.String({
      minLength: 1,
      maxLength: TIMEZONE_MAX,
      default: 'UTC',
      description: 'Such as Europe/Berlin'
    }),
    paused: Type.Boolean({ default: false }),
    alert: Type.Optional(
      Type.Object(
        {
          emails: Type.Array(Type.String({ minLength: 3, maxLength: 320 }), {
            maxItems: ALERT_EMAILS_MAX,
            default: [],
            description: 'Addresses of members of the team'
          }),
          on: Type.Array(oneOf(alertOutcomes), { maxItems: alertOutcomes.length, default: [...usualAlertOutcomes] })
        },
        { additionalProperties: false }
      )
    )
  },
  { additionalProperties: false }
)

const BackfillBody = Type.Object(
  { from: Type.String({ format: 'date-time' }), to: Type.String({ format: 'date-time' }) },
  { additionalProperties: false }
)

export const capsuleScheduleRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.put(
    '/api/capsules/:id/schedule',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Verify a sealed capsule again and again (its owner, or the owner and admins of its team)',
        description:
          'A schedule replaces the one before. A verdict that `alert.on` names is confirmed by one more run before anybody ' +
          'is told, by mail and by the webhook event capsule.verified. docs/capsules/schedules.md describes it all.',
        params: CapsuleId,
        body: ScheduleBody
      }
    },
    async (request, reply) => {
      const { cron, timezone, paused, alert } = request.body
      readCron(cron)
      const zone = readTimezone(timezone)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const capsule = await lockRequestedCapsule(request, tx, 'schedule')
        assertVerifiable(capsule)
        await assertKeyMaySchedule(tx, actorOf(request), capsule)
        const emails = alert?.emails ?? []
        if (emails.length > 0 && !deps.mailer.sends)
          throw new ServiceError(
            'not_available',
            'alert.emails: this service sends no mail; its operator has to set SMTP_URL'
          )
        const told = await membersByAddress(tx, capsule.teamId, emails)
        const stranger = emails.find((email) => !told.has(email.toLowerCase()))
        if (stranger !== undefined)
          throw validationError(`alert.emails: ${JSON.stringify(stranger)} is the address of nobody in the team`)
        const { schedule, made } = await putSchedule(
          tx,
          capsule.id,
          {
            cron: cron.trim(),
            timezone: zone,
            paused,
            alertEmails: [...told.values()].map(({ email }) => email),
            alertOn: [...new Set(alert?.on ?? usualAlertOutcomes)]
          },
          userOf(request).id
        )
        await recordCapsuleChange(
          tx,
          capsule,
          'capsule.schedule.changed',
          actorText(callerOf(request)),
          capsule.state,
          {
            made,
            cron: schedule.cron,
            timezone: schedule.timezone,
            paused,
            alert_on: schedule.alertOn,
            alert_users: [...told.values()].map(({ userId }) => userId)
          }
        )
        return { body: scheduleView(schedule, await lastScheduledRun(tx, capsule.id), deps.now()) }
      })
    }
  )

  app.get(
    '/api/capsules/:id/schedule',
    {
      schema: {
        tags: ['capsules'],
        summary: 'The schedule of a capsule, when it is due next, and what became of its last run',
        params: CapsuleId
      }
    },
    async (request) => {
      const { id } = await requestedCapsule(db, request)
      const schedule = await loadSchedule(db, id)
      if (!schedule) throw noSchedule()
      return scheduleView(schedule, await lastScheduledRun(db, id), deps.now())
    }
  )

  app.delete(
    '/api/capsules/:id/schedule',
    {
      schema: {
        tags: ['capsules'],
        summary: 'End the schedule of a capsule (its owner, or the owner and admins of its team)',
        description: 'A run under way goes on.',
        params: CapsuleId
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const capsule = await lockRequestedCapsule(request, tx, 'schedule')
        if (!(await endSchedule(tx, capsule.id))) throw noSchedule()
        await recordCapsuleChange(
          tx,
          capsule,
          'capsule.schedule.deleted',
          actorText(callerOf(request)),
          capsule.state,
          {}
        )
        return { body: { success: true } }
      })
  )

  app.post(
    '/api/capsules/:id/schedule/backfill',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Run what the schedule would have run in a time that is past, all of it or nothing',
        description: `At most ${BACKFILL_MAX} runs, no further back than ${BACKFILL_DAYS_MAX} days. Times that have a run already are passed over; refused ones are run.`,
        params: CapsuleId,
        body: BackfillBody
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
        summary: 'What the verifications of a capsule have said, newest first, and how their distance moves',
        description: '`drift` is of the verifications on this page.',
        params: CapsuleId,
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        })
      }
    },
    async (request) => {
      const { limit, offset } = request.query
      const { id } = await requestedCapsule(db, request)
      const { rows, total } = await listVerifications(db, id, { limit, offset })
      const points = rows.flatMap(({ tvd, completedAt }) => (tvd === null ? [] : [{ tvd, at: completedAt }]))
      return {
        verifications: rows.map(verificationView),
        drift: driftOf(points),
        ...pageView(total, { limit, offset })
      }
    }
  )
}

const noSchedule = () => new ServiceError('not_found', 'this capsule has no schedule')

/** @throws ServiceError `validation_error`. */
function assertVerifiable({ sourceJobId }: CapsuleRow): void {
  if (sourceJobId === null)
    throw validationError('Only a capsule that was made from a job can be verified: it has the result to compare with')
}

/**
 * What a schedule spends is its team's, and no key's: whoever could not spend it with the key cannot have it spent.
 * @throws ServiceError `permission_denied`.
 */
async function assertKeyMaySchedule(tx: Tx, { key }: Actor, { backends }: CapsuleRow): Promise<void> {
  for (const slug of key ? backends : []) {
    const backend = await findBackend(tx, slug)
    if (!backend || isFree(backend.pricing)) continue
    assertKeyMayPay(key, backend.pricing)
    if (key!.dailyLimit !== null)
      throw new ServiceError(
        'permission_denied',
        `${slug} is paid, and scheduled runs do not count against the daily limit of this key: use a key without one, or a session`
      )
  }
}

const DAY_MS = 24 * 3_600_000

/** Both ends belong to it. */
function readRange(body: { from: string; to: string }, now: Date): { after: Date; to: Date } {
  const [from, to] = [new Date(body.from), new Date(body.to)]
  const refuse = (why: string) => validationError(why)
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) throw refuse('from, to: no such time')
  if (from > to) throw refuse(`from: must not be later than to (got ${body.from})`)
  if (to > now) throw refuse(`to: must not be in the future (got ${body.to})`)
  if (now.getTime() - from.getTime() > BACKFILL_DAYS_MAX * DAY_MS)
    throw refuse(`from: must not be longer ago than ${BACKFILL_DAYS_MAX} days (got ${body.from})`)
  return { after: new Date(from.getTime() - 1), to }
}
