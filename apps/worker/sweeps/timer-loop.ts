// Runs a pass again and again, never two at once, until closed. A pass that throws is logged and tried again at the next
// turn: loops must outlive the outage of whatever they talk to.
import type { Logger } from 'pino'
import type { Pass, SweepNote } from './sweep-notes.js'

export interface TimerLoop {
  /** Waits for the pass under way. */
  close(): Promise<void>
}

/**
 * @param pass answers `true` when there is more to do at once; `null` when somebody else is at it.
 * @param note where each pass is written down, for sweeps that administrators see.
 */
export function startLoop(
  name: string,
  everyMs: number,
  log: Logger,
  pass: () => Promise<boolean | Pass | null>,
  note?: SweepNote
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
        if (done) await note?.succeeded(done)
      } catch (err) {
        log.warn({ loop: name, err }, 'pass failed; trying again')
        await note?.failed(err)
      }
      if (closed || more) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        timer = setTimeout(resolve, everyMs)
      })
    }
  })()

  return {
    async close() {
      closed = true
      clearTimeout(timer)
      wake()
      await running
    }
  }
}
