// Schedules and verifications of a capsule as the API shows them.

import type { PastVerification } from '../../../db/capsule-runs/verification-history.js'
import type { lastScheduledRun, ScheduleRow } from '../../../db/capsules/capsule-schedules.js'
import { dueTimes, readCron } from '../../../domain/verification/schedule.js'

const NEXT_RUNS = 5

type LastRun = Awaited<ReturnType<typeof lastScheduledRun>>

export const scheduleView = (schedule: ScheduleRow, last: LastRun, now: Date) => ({
  capsule_id: schedule.capsuleId,
  cron: schedule.cron,
  timezone: schedule.timezone,
  paused: schedule.paused,
  alert: { emails: schedule.alertEmails, on: schedule.alertOn },
  next_runs: schedule.paused
    ? []
    : dueTimes(readCron(schedule.cron), schedule.timezone, now, NEXT_RUNS).map((time) => time.toISOString()),
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

/** `pending`: the change is told to the engine within seconds, or when it is back. */
function engineView({ appliedVersion, version, refusal }: ScheduleRow) {
  if (appliedVersion !== version) return { state: 'pending', reason: null }
  return { state: refusal === null ? 'applied' : 'refused', reason: refusal }
}

export const verificationView = (past: PastVerification) => ({
  capsule_run_id: past.runId,
  trigger: past.trigger,
  scheduled_at: past.scheduledAt?.toISOString() ?? null,
  completed_at: past.completedAt.toISOString(),
  verdict: past.verdict,
  tvd: past.tvd,
  tvd_upper: past.tvdUpper,
  margin: past.margin,
  p_value: past.pValue,
  alerted_at: past.alertedAt?.toISOString() ?? null
})
