// The activities of a scheduled verification's workflow. Each can be repeated: a scheduled time gets one run, however often
// it is requested.
import pLimit from 'p-limit'
import { outcomeOfRun, type ScheduledStart, startScheduledRun } from '../../db/capsule-runs/scheduled-runs.js'
import type { Db } from '../../db/client.js'
import type { AnnounceRun } from '../../db/jobs/job-changes.js'
import type { ScheduledCapsule } from '../../domain/verification/schedule-names.js'
import { notYet } from '../job/failure.js'
import { asStep, type FaultDeps } from '../job/step.js'

/** Between two reads of an unfinished run: a free simulation takes seconds, a job at a provider takes days. */
const FIRST_LOOK_MS = 2_000
const LOOK_MS_MAX = 60_000
/**
 * Runs that are due in the same minute start a few at a time: they wait for each other in the database, and must not use
 * all connections of the worker at the same time. A few more wait in the process, and the others come back later.
 */
const STARTS_AT_ONCE = 3
const STARTS_WAITING = 6
const START_LATER_MS = 1_000

export type CapsuleActivities = ReturnType<typeof createCapsuleActivities>

export function createCapsuleActivities(deps: FaultDeps & { db: Db; announceRun: AnnounceRun }) {
  const { db, announceRun } = deps
  const limited = pLimit(STARTS_AT_ONCE)
  return {
    /** @param due.scheduledAt ISO 8601. */
    startScheduledRun: (due: ScheduledCapsule & { scheduledAt: string }): Promise<ScheduledStart> =>
      asStep(deps, { capsuleId: due.capsuleId }, async ({ info }) => {
        const late = limited.pendingCount >= STARTS_WAITING && !info.isLocal
        // Jitter keeps those that were turned away together from coming back together.
        if (late) throw notYet('other scheduled runs are being started', START_LATER_MS * (0.5 + Math.random()))
        const started = await limited(() =>
          startScheduledRun(db, { ...due, scheduledAt: new Date(due.scheduledAt) }, { at: new Date() })
        )
        if (started.runId !== null) announceRun(started.runId)
        return started
      }),

    /** The verdict, or the reason why there is none. An unfinished run is a retry, which leaves no trace in the history. */
    awaitRun: ({ runId }: { runId: string }): Promise<string> =>
      asStep(deps, { runId }, async ({ info }) => {
        const outcome = await outcomeOfRun(db, runId)
        if (outcome !== null) return outcome
        const afterMs = Math.min(LOOK_MS_MAX, FIRST_LOOK_MS * 2 ** Math.min(info.attempt - 1, 10))
        throw notYet('the run is not finished', afterMs)
      })
  }
}
