// Repeats a pass, never two at once, until closed. A pass that throws is logged, and the next one follows as usual: loops
// must survive the outages of the systems that they call.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { isDue } from '../../../db/service/sweeps.js'
import type { SweepName } from '../../../domain/operations/sweep.js'
import { type Pass, STORE_EVERY_MS, type SweepReport, type SweepReports } from './sweep-reports.js'

export interface TimerLoop {
  readonly name: string
  /** Waits for the pass under way. */
  close(): Promise<void>
}

export interface WakeableLoop extends TimerLoop {
  /** Begins the next pass at once, or after the pass under way, which may have looked before there was something to do. */
  wake(): void
}

/**
 * @param pass returns `true` when there is more to do at once; `null` when another worker is doing it.
 * @param report stores each pass, for sweeps that administrators see.
 */
export function startLoop(
  name: string,
  everyMs: number,
  log: Logger,
  pass: () => Promise<boolean | Pass | null>,
  report?: SweepReport
): WakeableLoop {
  let closed = false
  let isWoken = false
  let endPause = () => {}
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const running = (async () => {
    while (!closed) {
      let more = false
      isWoken = false
      try {
        const answer = await pass()
        const done: Pass | null = typeof answer === 'boolean' ? { more: answer } : answer
        more = done?.more ?? false
        if (done) await report?.succeeded(done)
      } catch (err) {
        log.warn({ loop: name, err }, 'a pass failed and will be tried again')
        await report?.failed(err)
      }
      if (!closed && !more && !isWoken) await pause()
    }
  })()

  return {
    name,
    wake() {
      isWoken = true
      endPause()
    },
    async close() {
      closed = true
      endPause()
      await running
    }
  }
}

/** A pass is due somewhat before its period is over, since it is recorded somewhat after its start. */
export const DUE = 0.9

export interface SharedLoopDeps {
  db: Db
  reports: SweepReports
  log: Logger
}

/**
 * A sweep whose passes one worker makes for all: the first one that finds it due. The period must be longer than that in which
 * passes are stored (`STORE_EVERY_MS`); with a shorter one, each worker makes its own passes.
 * @param lookMs how often a worker looks whether a pass is due, such as after one that failed.
 */
export function startSharedLoop(
  { db, reports, log }: SharedLoopDeps,
  name: SweepName,
  everyMs: number,
  pass: () => Promise<Pass | null>,
  lookMs = everyMs
): TimerLoop {
  const seconds = everyMs > STORE_EVERY_MS ? Math.floor((everyMs / 1_000) * DUE) : 0
  let goesOn = false
  async function passIfDue() {
    const isOurs = goesOn || (await isDue(db, name, seconds, seconds))
    goesOn = false
    const done = isOurs ? await pass() : null
    goesOn = done?.more ?? false
    return done
  }
  return startLoop(name, lookMs, log, passIfDue, reports.of(name, everyMs))
}
