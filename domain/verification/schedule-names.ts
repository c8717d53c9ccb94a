// Names and times of scheduled verification, shared by the schedules in Temporal, the workflow and the sweep.

/** The workflow that a schedule starts. */
export const VERIFY_CAPSULE_WORKFLOW = 'verifyCapsule'

/** The input of the workflow: the schedule, and the version of it that Temporal has. */
export interface ScheduledCapsule {
  capsuleId: string
  version: number
}

/** The id of a capsule's schedule in Temporal. */
export const scheduleIdOf = (capsuleId: string): string => `capsule-${capsuleId}`

/** Temporal appends the time. */
export const verifyWorkflowIdOf = (capsuleId: string): string => `verify-${capsuleId}`

/**
 * The note on a schedule in Temporal. When the note differs (for example after a manual pause), the sweep applies the
 * row again. A schedule contains the clock changes of this year and the next (UTC), so it is replaced each year.
 */
export const copyNote = (version: number, now: Date): string =>
  `version ${version}, clock changes of ${now.getUTCFullYear()} and ${now.getUTCFullYear() + 1}`

/**
 * A time that was missed because Temporal or its database was down is caught up within this period. Of several missed
 * times, only one is run. The period is longer than the sweep needs to notice a lost schedule.
 */
export const CATCH_UP_SECONDS = 15 * 60

/** The outcomes that an alert can report, and by default does: all but those that agree. */
export const alertOutcomes = ['different', 'drifted', 'failed', 'not_testable'] as const
export type AlertOutcome = (typeof alertOutcomes)[number]

export const ALERT_EMAILS_MAX = 20

/** The same outcome is reported again after this period, or after a good verification in between. */
export const ALERT_REPEAT_SECONDS = 24 * 60 * 60

/** How many times one request can backfill. */
export const BACKFILL_MAX = 100
/** How far back a backfill can reach, in days. */
export const BACKFILL_DAYS_MAX = 366
