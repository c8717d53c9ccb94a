// The rows that a sweep could not handle: each is logged, counted in the sweep's report, and left out for a while, so that the
// rows behind it get their turn.
import type { Logger } from 'pino'
import { isLockTimeout, type RowFailures, type SweptRow } from '../../../db/sweep-rows.js'
import { reasonOf } from '../../../domain/operations/reason.js'

/** The pause of a row after a failure. */
const PAUSE_MS = 30_000

export interface FailedRows extends RowFailures {
  /** For a row without a team. */
  failedAlone(id: string, error: unknown): void
  /** The failures since the last call, for the report of a pass. */
  take(): { failed: number; lastFailure: string | null }
}

/** @param clock milliseconds of a monotonic clock. */
export function createFailedRows(
  log: Pick<Logger, 'warn'>,
  sweep: string,
  { pauseMs = PAUSE_MS, clock = () => performance.now() } = {}
): FailedRows {
  const pausedUntil = new Map<string, number>()
  let failed = 0
  let lastFailure: string | null = null

  function record(id: string, paused: string[], error: unknown): void {
    for (const one of paused) pausedUntil.set(one, clock() + pauseMs)
    failed++
    lastFailure = `${id}: ${reasonOf(error)}`
    log.warn({ sweep, id, err: error }, 'a row could not be handled; the sweep will try it again')
  }

  return {
    except() {
      for (const [id, until] of pausedUntil) if (clock() >= until) pausedUntil.delete(id)
      return [...pausedUntil.keys()]
    },
    // A lock that the whole team needs holds up all its rows.
    failed: ({ id, teamId }: SweptRow, error) => record(id, isLockTimeout(error) ? [id, teamId] : [id], error),
    failedAlone: (id, error) => record(id, [id], error),
    take() {
      const since = { failed, lastFailure }
      failed = 0
      lastFailure = null
      return since
    }
  }
}
