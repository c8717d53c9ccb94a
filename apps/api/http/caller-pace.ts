// The pace at which one caller's large contents and bodies are read: one slice or body at a time, however many requests there
// are. Each costs the event loop milliseconds, in which no other request is served.
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'

/**
 * Reads when it is the request's turn.
 * @param ms from its beginning to that of the caller's next, at least; default: those of the pace.
 */
export type Paced = <T>(read: () => Promise<T>, ms?: number) => Promise<T>

export interface CallerPace {
  /** For one request of the caller, until `close`. */
  open(caller: string): { paced: Paced; close(): void }
}

/** @param sliceMs from the beginning of one slice of a caller to the beginning of its next, at least. */
export function createCallerPace(sliceMs: number): CallerPace {
  const callers = new Map<string, { readers: number; paced: Paced }>()

  function createPaced(): Paced {
    const oneAtATime = pLimit(1)
    let nextAt = 0
    return (read, ms = sliceMs) =>
      oneAtATime(async () => {
        const early = nextAt - performance.now()
        if (early > 0) await delay(early)
        nextAt = performance.now() + ms
        return read()
      })
  }

  return {
    open(caller) {
      const entry = callers.get(caller) ?? { readers: 0, paced: createPaced() }
      callers.set(caller, entry)
      entry.readers++
      return {
        paced: entry.paced,
        close: () => {
          if (--entry.readers === 0) callers.delete(caller)
        }
      }
    }
  }
}
