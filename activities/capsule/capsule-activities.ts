// The activities of a scheduled verification's workflow. Each can be repeated: a scheduled time gets one run, however often
// it is requested.
import { Context } from '@temporalio/activity'
import pLimit from 'p-limit'
import { outcomeOfRun, type ScheduledStart, startScheduledRun } from '../../db/capsule-runs/scheduled-runs.js'
import type { Db } from '../../db/client.js'
import type { ScheduledCapsule } from '../../domain/verification/schedule-names.js'
import { notYet } from '../job/failure.js'

/** Between two looks at an unfinished run: a free simulation takes seconds, a job at a provider takes days. */
const FIRST_LOOK_MS = 2_000
const LOOK_MS_MAX = 60_000
/**
 * Runs that are due in the same minute start a few at a time: they wait for each other in the database, and must not use
 * all connections of the worker meanwhile. A few more wait in the process, and the others come back later.
 */
const STARTS_AT_ONCE = 3
const STARTS_WAITING = 6
const START_LATER_MS = 1_000

export type CapsuleActivities = ReturnType<typeof createCapsuleActivities>

export function createCapsuleActivities({ db }: { db: Db }) {
  const limited = pLimit(STARTS_AT_ONCE)
  return {
    /** @param due.scheduledAt ISO 8601. */
    async startScheduledRun(due: ScheduledCapsule & { scheduledAt: string }): Promise<ScheduledStart> {
      const late = limited.pendingCount >= STARTS_WAITING && !Context.current().info.isLocal
      // Jitter keeps those that were turned away together from coming back together.
      if (late) throw notYet('other scheduled runs are being started', START_LATER_MS * (0.5 + Math.random()))
      return limited(() =>
        startScheduledRun(db, { ...due, scheduledAt: new Date(due.scheduledAt) }, { at: new Date() })
      )
    },

    /** The verdict, or the reason why there is none. An unfinished run is a retry, which leaves no trace in the history. */
    async awaitRun({ runId }: { runId: string }): Promise<string> {
      const outcome = await outcomeOfRun(db, runId)
      if (outcome !== null) return outcome
      const { attempt } = Context.current().info
      throw notYet('the run is not finished', Math.min(LOOK_MS_MAX, FIRST_LOOK_MS * 2 ** Math.min(attempt - 1, 10)))
    }
  }
}
