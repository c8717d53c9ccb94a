// Computes the verdicts of capsule runs that have all results (db/capsule-runs/capsule-verifications.ts), in threads.
import type { Logger } from 'pino'
import { loadToJudge, recordJudged, takeRunToJudge } from '../../../db/capsule-runs/capsule-verifications.js'
import type { Db } from '../../../db/client.js'
import type { AnnounceRun } from '../../../db/jobs/job-changes.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import { createTurns } from '../../../domain/teams/turns.js'
import type { Verification } from '../../../domain/verification/report.js'
import type { JudgePool } from '../../../services/threads/judge-pool.js'
import { PoolBusy } from '../../../services/threads/thread-pool.js'
import type { JudgeInput } from '../../../services/threads/verify.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

export interface CapsuleJudgeDeps {
  db: Db
  pool: JudgePool
  announceRun: AnnounceRun
  reports: SweepReports
  log: Logger
  everyMs: number
}

export interface CapsuleJudge extends TimerLoop {
  /** A run is ready for its verdict. */
  wake(): void
}

/** Runs that are judged at once: the statistics of one keep a processor busy. */
const AT_ONCE = 2
/** Pause after a run could not be judged or recorded, so that other runs get their turn. */
const RETRY_MS = 30_000

export function startCapsuleJudge({ db, pool, announceRun, reports, log, everyMs }: CapsuleJudgeDeps): CapsuleJudge {
  const underWay = new Set<Promise<unknown>>()
  const postponed = new Set<string>()
  const turns = createTurns()
  let closed = false

  /** The report, or the reason why there is none. */
  const judge = (input: JudgeInput, runId: string, teamId: string): Promise<Verification | string> =>
    pool.judgeInThread(teamId, input).catch((err: unknown) => {
      // Left to another worker, or to a later pass.
      if (closed || err instanceof PoolBusy) throw err
      log.error({ err, runId }, 'the results of a run could not be compared')
      return `the results could not be compared: ${reasonOf(err)}`
    })

  /** In one transaction, so that a run is free again as soon as its worker is gone. @returns whether there was one. */
  async function judgeNext(): Promise<boolean> {
    let runId: string | null = null
    try {
      const judged = await db.transaction(async (tx) => {
        const run = closed ? null : await takeRunToJudge(tx, turns, [...postponed])
        if (run === null) return false
        runId = run.id
        const input = await loadToJudge(tx, runId)
        const report = typeof input === 'string' ? input : await judge(input, runId, run.teamId)
        if ((await recordJudged(tx, runId, report)) && typeof report !== 'string')
          log.info({ runId, verdict: report.verdict }, 'a capsule was verified')
        return true
      })
      if (runId !== null) announceRun(runId)
      return judged
    } catch (error) {
      if (runId !== null) postpone(runId)
      throw error
    }
  }

  function postpone(runId: string): void {
    postponed.add(runId)
    setTimeout(() => postponed.delete(runId), RETRY_MS).unref()
  }

  async function pass(): Promise<Pass> {
    const judged = await judgeNext()
    return { more: judged, handled: judged ? 1 : 0 }
  }
  const loop = startLoop('capsule_verdicts', everyMs, log, pass, reports.of('capsule_verdicts', everyMs))

  return {
    name: loop.name,
    wake() {
      if (closed || underWay.size >= AT_ONCE) return
      const judging = judgeAll().finally(() => underWay.delete(judging))
      underWay.add(judging)
    },
    async close() {
      closed = true
      await pool.close()
      await Promise.all([loop.close(), ...underWay])
    }
  }

  async function judgeAll(): Promise<void> {
    try {
      while (await judgeNext()) {}
    } catch (err) {
      log.warn({ err }, 'a run was not judged; the sweep will try again')
    }
  }
}
