// The copies of schedules in Temporal: one Temporal Schedule for each row of db/capsules/capsule-schedules.ts.
import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleSpec } from '@temporalio/client'
import type { ScheduleCopies, ScheduleRow } from '../../db/capsules/capsule-schedules.js'
import { dueTimes, readCron, timesWhereClocksGoBack } from '../../domain/verification/schedule.js'
import {
  CATCH_UP_SECONDS,
  copyNote,
  type ScheduledCapsule,
  scheduleIdOf,
  VERIFY_CAPSULE_WORKFLOW,
  verifyWorkflowIdOf
} from '../../domain/verification/schedule-names.js'

const CALL_DEADLINE_MS = 2_000
/** A list of thousands takes several calls. */
const LIST_DEADLINE_MS = 30_000
/** A job at a provider can take thirty days. */
const RUN_TIMEOUT = '35 days' as const

export interface TemporalSchedules extends ScheduleCopies {
  /** The note of each copy of this installation's task queue, by capsule. */
  list(): Promise<Map<string, string>>
}

/** @param taskQueue that of this installation's workers; copies of other queues in the namespace stay untouched. */
export function createScheduleCopies(temporal: Client, taskQueue: string): TemporalSchedules {
  const inTime = <T>(call: () => Promise<T>, ms = CALL_DEADLINE_MS): Promise<T> =>
    temporal.withDeadline(Date.now() + ms, call)
  const handle = (capsuleId: string) => temporal.schedule.getHandle(scheduleIdOf(capsuleId))

  const optionsOf = (row: ScheduleRow, now: Date) => ({
    spec: specOf(row, now),
    action: {
      type: 'startWorkflow' as const,
      workflowType: VERIFY_CAPSULE_WORKFLOW,
      workflowId: verifyWorkflowIdOf(row.capsuleId),
      taskQueue,
      args: [{ capsuleId: row.capsuleId, version: row.version } satisfies ScheduledCapsule],
      workflowExecutionTimeout: RUN_TIMEOUT
    },
    policies: { overlap: 'SKIP' as const, catchupWindow: CATCH_UP_SECONDS * 1000 },
    state: { paused: row.paused, note: copyNote(row.version, now) }
  })

  async function create(row: ScheduleRow): Promise<void> {
    const now = new Date()
    const options = optionsOf(row, now)
    const backfill = missedBy(row, now)
    await inTime(() =>
      temporal.schedule.create({
        ...options,
        scheduleId: scheduleIdOf(row.capsuleId),
        memo: { taskQueue },
        state: { ...options.state, backfill }
      })
    )
  }

  async function update(row: ScheduleRow): Promise<void> {
    const now = new Date()
    const copy = handle(row.capsuleId)
    await inTime(() => copy.update(() => optionsOf(row, now)))
    // A time that already has a run gets no second one.
    const missed = missedBy(row, now)
    if (missed.length > 0) await inTime(() => copy.backfill(missed))
  }

  return {
    async put(row) {
      const [first, otherwise, reason] =
        row.appliedVersion === null
          ? ([create, update, ScheduleAlreadyRunning] as const)
          : ([update, create, ScheduleNotFoundError] as const)
      try {
        await first(row).catch((error) => {
          if (error instanceof reason) return otherwise(row)
          throw error
        })
        return null
      } catch (error) {
        // Temporal will never accept this schedule, for example because it does not know the time zone.
        if (error instanceof TypeError) return error.message
        throw error
      }
    },

    async remove(capsuleId) {
      await inTime(() => handle(capsuleId).delete()).catch((error) => {
        if (!(error instanceof ScheduleNotFoundError)) throw error
      })
    },

    async list() {
      return inTime(async () => {
        const found = new Map<string, string>()
        const prefix = scheduleIdOf('')
        for await (const { scheduleId, memo, state } of temporal.schedule.list())
          if (memo?.taskQueue === taskQueue && scheduleId.startsWith(prefix))
            found.set(scheduleId.slice(prefix.length), state.note ?? '')
        return found
      }, LIST_DEADLINE_MS)
    }
  }
}

/** The times since the schedule was set, or since Temporal lost or changed its copy, that are still made up for. */
function missedBy({ cron, timezone, paused, updatedAt }: ScheduleRow, now: Date) {
  const start = new Date(Math.max(updatedAt.getTime(), now.getTime() - CATCH_UP_SECONDS * 1000))
  const [due] = paused ? [] : dueTimes(readCron(cron), timezone, new Date(start.getTime() - 1), 1)
  return due && due <= now ? [{ start, end: now, overlap: 'SKIP' as const }] : []
}

/**
 * The values of the fields, so that only one program parses cron expressions; and each time around a moment when clocks go
 * back, since Temporal loses some of those.
 */
function specOf({ cron, timezone }: ScheduleRow, now: Date): ScheduleSpec {
  const fields = readCron(cron)
  const { minutes, hours, daysOfMonth, months, daysOfWeek } = fields
  const year = now.getUTCFullYear()
  const [from, until] = [new Date(Date.UTC(year, 0, 1)), new Date(Date.UTC(year + 2, 0, 1))]
  return {
    // A single time is an interval as long as the time since 1970, which repeats only after the same time again.
    intervals: timesWhereClocksGoBack(fields, timezone, from, until).map((time) => ({ every: time.getTime() })),
    calendars: [
      {
        minute: [...minutes],
        hour: [...hours],
        dayOfMonth: [...daysOfMonth],
        month: months.map((month) => monthNames[month - 1]!),
        dayOfWeek: daysOfWeek.map((day) => dayNames[day]!)
      }
    ],
    timezone
  }
}

const monthNames = [
  'JANUARY',
  'FEBRUARY',
  'MARCH',
  'APRIL',
  'MAY',
  'JUNE',
  'JULY',
  'AUGUST',
  'SEPTEMBER',
  'OCTOBER',
  'NOVEMBER',
  'DECEMBER'
] as const
const dayNames = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const
