// Judges the runs of capsules that have their results (db/capsule-runs/capsule-verifications.ts), outside of this process's event loop.
import type { Logger } from 'pino'
import { loadToJudge, recordJudged, takeRunToJudge } from '../../../db/capsule-runs/capsule-verifications.js'
import type { Db } from '../../../db/client.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import type { Verification } from '../../../domain/verification/report.js'
import type { JudgePool } from '../../../services/threads/judge-pool.js'
import { PoolBusy } from '../../../services/threads/thread-pool.js'
import type { JudgeInput } from '../../../services/threads/verify.js'
import type { Pass, SweepNotes } from './sweep-notes.js'
import { startLoop } from './timer-loop.js'

export interface CapsuleJudgeDeps {
  db: Db
  pool: JudgePool
  notes: SweepNotes
  log: Logger
  everyMs: number
}

export interface CapsuleJudge {
  /** There is something to judge. */
  wake(): void
  close(): Promise<void>
}

/** How many are judged at once: the statistics of one keep a processor busy. */
const AT_ONCE = 2
/** One that could not be judged or recorded is left alone for this long, so that the others get their turn. */
const PUT_OFF_MS = 30_000

export function startCapsuleJudge({ db, pool, notes, log, everyMs }: CapsuleJudgeDeps): CapsuleJudge {
  const lanes = new Set<Promise<unknown>>()
  const putOff = new Set<string>()
  let closed = false

  /** The report; or why there is none. */
  const judge = (input: JudgeInput, runId: string): Promise<Verification | string> =>
    pool.judgeInThread(input).catch((err: unknown) => {
      // Another worker, or this one later.
      if (closed || err instanceof PoolBusy) throw err
      log.error({ err, runId }, 'the results of a run could not be compared')
      return `the results could not be compared: ${reasonOf(err)}`
    })

  /** In one transaction: a run is free again as soon as whoever judges it is gone. @returns whether there was one. */
  async function judgeNext(): Promise<boolean> {
    let runId: string | null = null
    try {
      return await db.transaction(async (tx) => {
        runId = closed ? null : await takeRunToJudge(tx, [...putOff])
        if (runId === null) return false
        const input = await loadToJudge(tx, runId)
        const found = typeof input === 'string' ? input : await judge(input, runId)
        if ((await recordJudged(tx, runId, found)) && typeof found !== 'string')
          log.info({ runId, verdict: found.verdict }, 'a capsule was verified')
        return true
      })
    } catch (error) {
      if (runId !== null) leave(runId)
      throw error
    }
  }

  function leave(runId: string): void {
    putOff.add(runId)
    setTimeout(() => putOff.delete(runId), PUT_OFF_MS).unref()
  }

  async function pass(): Promise<Pass> {
    const judged = await judgeNext()
    return { more: judged, handled: judged ? 1 : 0 }
  }
  const loop = startLoop('capsule_verdicts', everyMs, log, pass, notes.of('capsule_verdicts', everyMs))

  return {
    wake() {
      if (closed || lanes.size >= AT_ONCE) return
      const lane = untilNone().finally(() => lanes.delete(lane))
      lanes.add(lane)
    },
    async close() {
      closed = true
      await pool.close()
      await Promise.all([loop.close(), ...lanes])
    }
  }

  async function untilNone(): Promise<void> {
    try {
      while (await judgeNext()) {}
    } catch (err) {
      log.warn({ err }, 'a run was not judged; the sweep will do it')
    }
  }
}
