// The schedule by which a capsule is verified: /api/capsules/:id/schedule. Its results are in capsule-verifications.ts.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { actorText } from '../../../db/audit/audit.js'
import { findBackend } from '../../../db/backends/backends.js'
import { recordCapsuleChange } from '../../../db/capsules/capsule-changes.js'
import { deleteSchedule, lastScheduledRun, loadSchedule, putSchedule } from '../../../db/capsules/capsule-schedules.js'
import { type CapsuleRow, loadSeal } from '../../../db/capsules/capsules.js'
import type { DbOrTx } from '../../../db/client.js'
import { membersByAddress } from '../../../db/teams/members.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { isFree } from '../../../domain/money/cost.js'
import { CRON_MAX, readCron, readTimezone, TIMEZONE_MAX } from '../../../domain/verification/schedule.js'
import { ALERT_EMAILS_MAX, alertOutcomes } from '../../../domain/verification/schedule-names.js'
import type { ApiDeps } from '../deps.js'
import { type Actor, actorOf, callerOf, userOf } from '../http/access.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'
import { done, json, success } from '../http/response.js'
import { lockRequestedCapsule, requestedCapsule } from './capsule-access.js'
import { CapsuleSchedule, scheduleView } from './schedule-view.js'

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
          on: Type.Array(oneOf(alertOutcomes), { maxItems: alertOutcomes.length, default: [...alertOutcomes] })
        },
        { additionalProperties: false }
      )
    )
  },
  { additionalProperties: false }
)

export const capsuleScheduleRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.put(
    '/api/capsules/:id/schedule',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Verify a sealed capsule on a schedule (its owner, or the owner and admins of its team)',
        description:
          'A schedule replaces the one before. A verdict that `alert.on` names is confirmed by one more run before an ' +
          'alert is sent by mail and by the webhook event capsule.verified. docs/capsules/schedules.md has the details.',
        params: CapsuleId,
        body: ScheduleBody,
        response: { 200: json('The schedule', CapsuleSchedule) },
        errors: ['conflict', 'not_available']
      }
    },
    async (request, reply) => {
      const { cron, timezone, paused, alert } = request.body
      readCron(cron)
      const zone = readTimezone(timezone)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const capsule = await lockRequestedCapsule(request, tx, 'schedule')
        assertVerifiable(capsule)
        await assertTestable(tx, capsule)
        await assertKeyMaySchedule(tx, actorOf(request), capsule)
        const emails = alert?.emails ?? []
        if (emails.length > 0 && !deps.mailer.sends)
          throw new ServiceError(
            'not_available',
            'alert.emails: this service sends no mail; its operator has to set SMTP_URL'
          )
        const recipients = await membersByAddress(tx, capsule.teamId, emails)
        const stranger = emails.find((email) => !recipients.has(email.toLowerCase()))
        if (stranger !== undefined)
          throw validationError(`alert.emails: ${JSON.stringify(stranger)} is not the address of a member of the team`)
        const { schedule, made } = await putSchedule(
          tx,
          capsule.id,
          {
            cron: cron.trim(),
            timezone: zone,
            paused,
            alertEmails: [...recipients.values()].map(({ email }) => email),
            alertOn: [...new Set(alert?.on ?? alertOutcomes)]
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
            alert_users: [...recipients.values()].map(({ userId }) => userId)
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
        summary: 'The schedule of a capsule, its next times, and its last run',
        params: CapsuleId,
        response: { 200: json('The schedule', CapsuleSchedule) }
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
        description: 'A run in progress continues.',
        params: CapsuleId,
        response: { 200: done }
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const capsule = await lockRequestedCapsule(request, tx, 'schedule')
        if (!(await deleteSchedule(tx, capsule.id))) throw noSchedule()
        await recordCapsuleChange(
          tx,
          capsule,
          'capsule.schedule.deleted',
          actorText(callerOf(request)),
          capsule.state,
          {}
        )
        return { body: success }
      })
  )
}

export const noSchedule = () => new ServiceError('not_found', 'this capsule has no schedule')

/** @throws ServiceError `validation_error`. */
export function assertVerifiable({ sourceJobId }: CapsuleRow): void {
  if (sourceJobId === null)
    throw validationError('Only a capsule that was made from a job can be verified: it has the result to compare with')
}

/** @throws ServiceError `conflict` when every run of a schedule would end as `not_testable`. */
export async function assertTestable(tx: DbOrTx, { id }: Pick<CapsuleRow, 'id'>): Promise<void> {
  const untestable = (await loadSeal(tx, id))?.untestable
  if (untestable) throw new ServiceError('conflict', `A schedule would learn nothing. ${untestable}`)
}

/**
 * A schedule spends its team's money and outlives the key, so a key cannot schedule runs that it could not pay for.
 * @throws ServiceError `permission_denied`.
 */
export async function assertKeyMaySchedule(tx: DbOrTx, { key }: Actor, { backends }: CapsuleRow): Promise<void> {
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
