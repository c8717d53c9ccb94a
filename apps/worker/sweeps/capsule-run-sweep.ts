// Advances the runs of capsules (db/capsule-runs/capsule-run-steps.ts): right after one of their jobs has started or finished in
// this process, and by a sweep for jobs that ended elsewhere or were missed.
import type { Logger } from 'pino'
import { advanceRun, dueRuns } from '../../../db/capsule-runs/capsule-run-steps.js'
import type { Db } from '../../../db/client.js'
import type { AnnounceJob, AnnounceRun } from '../../../db/jobs/job-changes.js'
import { createFailedRows } from './failed-rows.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const RUNS_PER_PASS = 200
/** Runs that are advanced at once; each takes one connection. */
const CONNECTIONS = 4

export interface CapsuleRunDeps {
  db: Db
  announce: AnnounceJob
  announceRun: AnnounceRun
  reports: SweepReports
  log: Logger
  everyMs: number
  /** A run is ready for its verdict. */
  onJudging(): void
}

export interface CapsuleRunSweep extends TimerLoop {
  /** A job of this run has changed its status. */
  onRunChanged(runId: string): void
}

export function startCapsuleRunSweep(deps: CapsuleRunDeps): CapsuleRunSweep {
  const { db, announce, announceRun, reports, log, everyMs, onJudging } = deps
  const waiting = new Set<string>()
  const underWay = new Set<Promise<void>>()
  const failures = createFailedRows(log, 'capsule_runs')
  let closed = false

  async function advance(runId: string): Promise<void> {
    const { status, changed } = await advanceRun(db, runId)
    for (const jobId of changed) announce(jobId)
    announceRun(runId)
    if (status === 'judging') onJudging()
  }

  /** A run that changes while it is advanced is advanced again afterwards. */
  async function advanceWaiting(): Promise<void> {
    for (const runId of waiting) {
      waiting.delete(runId)
      await advance(runId).catch((err) =>
        log.warn({ err, runId }, 'a run of a capsule was not advanced; the sweep will try again')
      )
    }
  }

  const loop = startLoop('capsule_runs', everyMs, log, pass, reports.of('capsule_runs', everyMs))
  async function pass(): Promise<Pass> {
    const due = await dueRuns(db, RUNS_PER_PASS, failures.except())
    for (const runId of due) await advance(runId).catch((err) => failures.failedAlone(runId, err))
    return { more: due.length === RUNS_PER_PASS, handled: due.length, ...failures.take() }
  }

  return {
    name: loop.name,
    onRunChanged(runId) {
      if (closed) return
      waiting.add(runId)
      if (underWay.size >= CONNECTIONS) return
      const running = advanceWaiting().finally(() => underWay.delete(running))
      underWay.add(running)
    },
    async close() {
      closed = true
      waiting.clear()
      await Promise.all([loop.close(), ...underWay])
    }
  }
}
