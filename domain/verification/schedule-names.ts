// The names and times of scheduled verification, shared by the engine's copies, the workflow and the sweep.

/** The workflow that a schedule starts. */
export const VERIFY_CAPSULE_WORKFLOW = 'verifyCapsule'

/** Input of the workflow: the schedule, and which version of it the engine was told. */
export interface ScheduledCapsule {
  capsuleId: string
  version: number
}

/** The engine's copy of a capsule's schedule. */
export const scheduleIdOf = (capsuleId: string): string => `capsule-${capsuleId}`

/** The engine puts the time after it. */
export const verifyWorkflowIdOf = (capsuleId: string): string => `verify-${capsuleId}`

/**
 * What the engine's copy says of itself; anything else there (a pause by hand) is put right from the row. A copy knows the
 * changes of the clocks of this year and the next (UTC), so it is made anew each year.
 */
export const copyNote = (version: number, now: Date): string =>
  `version ${version}, clock changes of ${now.getUTCFullYear()} and ${now.getUTCFullYear() + 1}`

/**
 * A time that was missed because the engine or its database was away is made up for within this long, once: of several
 * missed times one is run. Longer than the sweep takes to find that the engine has lost a schedule.
 */
export const CATCH_UP_SECONDS = 15 * 60

/** What an alert may be about: a verdict that nobody wants, or a verification that did not complete. */
export const alertOutcomes = ['different', 'drifted', 'failed', 'not_testable'] as const
/** Where a schedule does not say: what tells that something has changed. */
export const usualAlertOutcomes: readonly AlertOutcome[] = ['different', 'drifted', 'failed']
export type AlertOutcome = (typeof alertOutcomes)[number]

export const ALERT_EMAILS_MAX = 20

/** The same outcome is told again after this long, or after a verification in between that was well. */
export const TOLD_AGAIN_SECONDS = 24 * 60 * 60

/** Times that one request may back-fill. */
export const BACKFILL_MAX = 100
/** How far back it may reach. */
export const BACKFILL_DAYS_MAX = 366
