// Reports to the Temporal server, while an activity works, that its worker is alive. The response carries a cancellation.
// An activity whose wait for the executor would be long comes back later: its slot is free for others until then.
import type { Context } from '@temporalio/activity'
import { ComeBackLater, isTooLong, tooLongAway } from '../../services/executor/wait.js'
import { failureOf, notYet } from './failure.js'

const HEARTBEAT_MS = 1_000
/** Until an activity without a place in the line comes back. It doubles, so that a thousand of them cost little. */
const LATER_FIRST_MS = 500
const LATER_MAX_MS = 8_000
const AWAY_MS = 5_000

/** @param details is shown beside the activity in Temporal. */
export async function withHeartbeat<T>(
  activity: Context,
  work: () => Promise<T>,
  details: () => string | null = () => null
): Promise<T> {
  const beating = setInterval(() => activity.heartbeat(details()), HEARTBEAT_MS)
  try {
    return await work()
  } catch (error) {
    throw error instanceof ComeBackLater ? comeBack(activity, error) : error
  } finally {
    clearInterval(beating)
  }
}

function comeBack({ info }: Context, { message, awayMs }: ComeBackLater) {
  if (awayMs === null) {
    const afterMs = Math.min(LATER_FIRST_MS * 2 ** Math.min(info.attempt - 1, 10), LATER_MAX_MS)
    // Jitter keeps those that were turned away together from coming back together.
    return notYet(message, afterMs * (0.75 + Math.random() / 2))
  }
  // The absence counts for an activity from its own first try.
  const waitedMs = Math.min(awayMs, Date.now() - info.scheduledTimestampMs)
  if (isTooLong(waitedMs)) return failureOf({ code: 'execution_error', message: tooLongAway(message) }, 'final')
  return notYet(message, AWAY_MS * (1 + Math.random()))
}
