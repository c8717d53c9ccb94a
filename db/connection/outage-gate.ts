// While no connection can be opened, one statement at a time waits for the database, and the others fail at once: the
// driver would let them wait in its queue, where each takes the time of a try to connect.
import { setTimeout as delay } from 'node:timers/promises'
import { connectionError } from './database-socket.js'

/** A caller that repeats at once must not keep the process from everything else. */
const PAUSE_MS = 20

export type OutageGate = <T>(send: () => Promise<T>) => Promise<T>

/** @param outage why the last try to connect failed, while there is no connection. */
export function createOutageGate(outage: () => Error | null): OutageGate {
  let isTrying = false
  return async (send) => {
    const reason = outage()
    if (!reason) return send()
    if (isTrying) {
      await delay(PAUSE_MS)
      throw connectionError(reason)
    }
    isTrying = true
    try {
      return await send()
    } finally {
      isTrying = false
    }
  }
}
