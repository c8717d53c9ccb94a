// Repeats a pass, never two at once, until closed. A pass that throws is logged, and the next one follows as usual: loops
// must survive the outages of the systems that they call.
import type { Logger } from 'pino'
import type { Pass, SweepReport } from './sweep-reports.js'

export interface TimerLoop {
  readonly name: string
  /** Waits for the pass under way. */
  close(): Promise<void>
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
): TimerLoop {
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let wake = () => {}

  const running = (async () => {
    while (!closed) {
      let more = false
      try {
        const answer = await pass()
        const done: Pass | null = typeof answer === 'boolean' ? { more: answer } : answer
        more = done?.more ?? false
        if (done) await report?.succeeded(done)
      } catch (err) {
        log.warn({ loop: name, err }, 'a pass failed and will be tried again')
        await report?.failed(err)
      }
      if (closed || more) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        timer = setTimeout(resolve, everyMs)
      })
    }
  })()

  return {
    name,
    async close() {
      closed = true
      clearTimeout(timer)
      wake()
      await running
    }
  }
}
