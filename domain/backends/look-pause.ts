// How long the service pauses between two looks at a job that its provider has accepted. A look costs the worker, Temporal and
// the database about ten milliseconds of processor time together, and some teams have thousands of such jobs.

/** The pause of a job on its own: this share of the time since its acceptance, within these bounds. */
export const ownPause = { share: 0.1, minMs: 1_000, maxMs: 60_000 } as const

/** Looks that a team's jobs cause together. With more, each of its jobs pauses longer. */
export const TEAM_LOOKS_PER_SECOND = 20
/** However many jobs a team has. */
const PAUSE_MAX_MS = 10 * 60_000

/**
 * @param secondsAccepted since the provider accepted the job.
 * @param teamLooks looks a second that the team's jobs would cause with their own pauses.
 * @returns milliseconds.
 */
export function lookPauseMs(secondsAccepted: number, teamLooks: number): number {
  const ownMs = Math.min(Math.max(secondsAccepted * 1000 * ownPause.share, ownPause.minMs), ownPause.maxMs)
  return Math.min(ownMs * Math.max(1, teamLooks / TEAM_LOOKS_PER_SECOND), PAUSE_MAX_MS)
}
