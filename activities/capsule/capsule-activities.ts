// The activities of a scheduled verification's workflow. Each may be repeated: the run of a time is made once, whoever asks.
import { ApplicationFailure, Context } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import { outcomeOfRun, type ScheduledStart, startScheduledRun } from '../../db/capsule-runs/scheduled-runs.js'
import type { Db } from '../../db/client.js'
import type { ScheduledCapsule } from '../../domain/verification/schedule-names.js'

/** Looks at a run that goes on: a free simulation takes seconds, a job at a provider days. */
const FIRST_LOOK_MS = 2_000
const LOOK_MS_MAX = 60_000
/**
 * Runs of one minute are made a few at a time: they wait for each other in the database, and must not hold every connection
 * of the worker while they do.
 */
const STARTS_AT_ONCE = 3

export type CapsuleActivities = ReturnType<typeof createCapsuleActivities>

export function createCapsuleActivities({ db }: { db: Db }) {
  const inTurn = createTurns(STARTS_AT_ONCE)
  return {
    /** @param due.scheduledAt ISO 8601. */
    startScheduledRun: (due: ScheduledCapsule & { scheduledAt: string }): Promise<ScheduledStart> =>
      inTurn(() => startScheduledRun(db, { ...due, scheduledAt: new Date(due.scheduledAt) }, { at: new Date() })),

    /** The verdict, or how the run ended without one. A run that goes on is a retry, which leaves no trace in the history. */
    async awaitRun({ runId }: { runId: string }): Promise<string> {
      const outcome = await outcomeOfRun(db, runId)
      if (outcome !== null) return outcome
      const { attempt } = Context.current().info
      throw ApplicationFailure.create({
        type: 'not_yet',
        message: 'the run goes on',
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: Math.min(LOOK_MS_MAX, FIRST_LOOK_MS * 2 ** Math.min(attempt - 1, 10))
      })
    }
  }
}

/** Runs what it is given, at most `lanes` at once, in the order of asking. */
function createTurns(lanes: number): <T>(act: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = lanes
  return async (act) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await act()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
