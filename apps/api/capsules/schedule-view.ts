// Schedules and verifications of a capsule as the API shows them.
import { type Static, Type } from 'typebox'
import type { PastVerification as VerificationRow } from '../../../db/capsule-runs/verification-history.js'
import type { lastScheduledRun, ScheduleRow } from '../../../db/capsules/capsule-schedules.js'
import { capsuleRunStatuses, capsuleRunTriggers } from '../../../domain/capsules/capsule-state.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { dueTimes, readCron } from '../../../domain/verification/schedule.js'
import { alertOutcomes } from '../../../domain/verification/schedule-names.js'
import { verdicts } from '../../../domain/verification/verdict.js'
import { count, nullable, text, time, uuid } from '../http/response.js'

export const NEXT_RUNS = 5

export const ScheduleEngine = Type.Object({
  state: oneOf(['applied', 'pending', 'refused']),
  reason: nullable(Type.String({ description: 'Why Temporal does not take the schedule' }))
})

export const CapsuleSchedule = Type.Object(
  {
    capsule_id: uuid,
    cron: text,
    timezone: text,
    paused: Type.Boolean(),
    alert: Type.Object({ emails: Type.Array(text), on: Type.Array(oneOf(alertOutcomes)) }),
    next_runs: Type.Array(time, { description: `The next ${NEXT_RUNS}; none while it is paused` }),
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
    engine: ScheduleEngine,
    created_at: time,
    updated_at: time
  },
  { $id: 'CapsuleSchedule' }
)

const distance = nullable(Type.Number({ minimum: 0 }))

const outcome = {
  completed_at: time,
  verdict: oneOf(verdicts),
  tvd: distance,
  tvd_upper: distance,
  margin: distance,
  p_value: nullable(Type.Number({ minimum: 0, maximum: 1 }))
}

export const PastVerification = Type.Object(
  {
    capsule_run_id: uuid,
    trigger: oneOf(capsuleRunTriggers),
    scheduled_at: nullable(time),
    ...outcome,
    alerted_at: nullable(time)
  },
  { $id: 'PastVerification' }
)

/** As everyone sees it. */
export const PublicVerification = Type.Object(outcome, { $id: 'PublicVerification' })

/** The view is domain's (domain/verification/drift.ts). */
export const Drift = nullable(
  Type.Object({
    points: count,
    mean: Type.Number(),
    min: Type.Number(),
    max: Type.Number(),
    per_30_days: nullable(Type.Number()),
    standard_error: nullable(Type.Number())
  })
)

export const Backfill = Type.Object({
  count,
  passed_over: Type.Integer({ minimum: 0, description: 'Times that had a run already' }),
  runs: Type.Array(Type.Object({ capsule_run_id: uuid, scheduled_at: time }))
})

type LastRun = Awaited<ReturnType<typeof lastScheduledRun>>

export const scheduleView = (schedule: ScheduleRow, last: LastRun, now: Date): Static<typeof CapsuleSchedule> => ({
  capsule_id: schedule.capsuleId,
  cron: schedule.cron,
  timezone: schedule.timezone,
  paused: schedule.paused,
  alert: { emails: schedule.alertEmails, on: schedule.alertOn },
  next_runs: nextRuns(schedule, now, NEXT_RUNS),
  last_run: last && {
    capsule_run_id: last.id,
    trigger: last.trigger,
    scheduled_at: last.scheduledAt?.toISOString() ?? null,
    status: last.status,
    verdict: last.verdict,
    reason: last.reason
  },
  engine: engineView(schedule),
  created_at: schedule.createdAt.toISOString(),
  updated_at: schedule.updatedAt.toISOString()
})

/** None while it is paused. */
export const nextRuns = (
  { cron, timezone, paused }: Pick<ScheduleRow, 'cron' | 'timezone' | 'paused'>,
  now: Date,
  limit: number
): string[] => (paused ? [] : dueTimes(readCron(cron), timezone, now, limit).map((due) => due.toISOString()))

/** `pending`: Temporal gets the change within seconds, or when it is available again. */
export function engineView({
  appliedVersion,
  version,
  refusal
}: Pick<ScheduleRow, 'appliedVersion' | 'version' | 'refusal'>): Static<typeof ScheduleEngine> {
  if (appliedVersion !== version) return { state: 'pending', reason: null }
  return { state: refusal === null ? 'applied' : 'refused', reason: refusal }
}

export const verificationView = (past: VerificationRow): Static<typeof PastVerification> => ({
  capsule_run_id: past.runId,
  trigger: past.trigger,
  scheduled_at: past.scheduledAt?.toISOString() ?? null,
  ...publicVerificationView(past),
  alerted_at: past.alertedAt?.toISOString() ?? null
})

export const publicVerificationView = (past: VerificationRow): Static<typeof PublicVerification> => ({
  completed_at: past.completedAt.toISOString(),
  verdict: past.verdict,
  tvd: past.tvd,
  tvd_upper: past.tvdUpper,
  margin: past.margin,
  p_value: past.pValue
})
