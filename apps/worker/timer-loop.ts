// Runs a pass again and again, never two at once, until closed. A pass that throws is logged and tried again at the next
// turn: loops must outlive the outage of whatever they talk to.
import type { Logger } from 'pino'

export interface TimerLoop {
  /** Waits for the pass under way. */
  close(): Promise<void>
}

/** @param pass answers `true` when there is more to do at once. */
export function startLoop(
  name: string,
  everyMs: number,
  log: Logger,
  pass: () => Promise<boolean | undefined>
): TimerLoop {
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let wake = () => {}

  const running = (async () => {
    while (!closed) {
      let more: boolean | undefined = false
      try {
        more = await pass()
      } catch (err) {
        log.warn({ loop: name, err }, 'pass failed; trying again')
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
