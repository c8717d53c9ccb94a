// Moves the runs of capsules along (db/capsule-runs/capsule-run-steps.ts): right after one of their jobs has begun or ended in this
// process, and by a sweep for what ended elsewhere or was missed.
import type { Logger } from 'pino'
import { advanceRun, dueRuns } from '../../../db/capsule-runs/capsule-run-steps.js'
import type { Db } from '../../../db/client.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import type { Pass, SweepNotes } from './sweep-notes.js'
import { startLoop } from './timer-loop.js'

const RUNS_PER_PASS = 200
/** Runs that are moved at once; each takes one connection. */
const CONNECTIONS = 4

export interface CapsuleRunDeps {
  db: Db
  announce: AnnounceJob
  notes: SweepNotes
  log: Logger
  everyMs: number
  /** A run waits to be judged. */
  toBeJudged(): void
}

export interface CapsuleRunSweep {
  /** A job of this run has moved. */
  noticed(runId: string): void
  /** Waits for what is under way. */
  close(): Promise<void>
}

export function startCapsuleRunSweep(deps: CapsuleRunDeps): CapsuleRunSweep {
  const { db, announce, notes, log, everyMs, toBeJudged } = deps
  const waiting = new Set<string>()
  const lanes = new Set<Promise<void>>()
  let closed = false

  async function advance(runId: string): Promise<void> {
    const { status, changed } = await advanceRun(db, runId)
    for (const jobId of changed) announce(jobId)
    if (status === 'judging') toBeJudged()
  }

  /** A run whose job moves while it is being moved comes in again, behind it. */
  async function lane(): Promise<void> {
    for (const runId of waiting) {
      waiting.delete(runId)
      await advance(runId).catch((err) => log.warn({ err, runId }, 'a run was not moved on; the sweep will do it'))
    }
  }

  const loop = startLoop('capsule_runs', everyMs, log, pass, notes.of('capsule_runs', everyMs))
  async function pass(): Promise<Pass> {
    const due = await dueRuns(db, RUNS_PER_PASS)
    let failed: unknown = null
    for (const runId of due)
      await advance(runId).catch((err) => {
        failed ??= err
        log.error({ err, runId }, 'a run of a capsule cannot go on')
      })
    if (failed) throw failed
    return { more: due.length === RUNS_PER_PASS, handled: due.length }
  }

  return {
    noticed(runId) {
      if (closed) return
      waiting.add(runId)
      if (lanes.size >= CONNECTIONS) return
      const running = lane().finally(() => lanes.delete(running))
      lanes.add(running)
    },
    async close() {
      closed = true
      waiting.clear()
      await Promise.all([loop.close(), ...lanes])
    }
  }
}
