// What a refused request still sends. Node would read it as fast as it arrives, and one caller that repeats a large refused
// upload would keep the event loop busy with bytes that have no use. Closing the connection would be cheaper, but a client
// that sends its whole body before it reads would lose the response.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** Of all connections of a process together: the event loop needs about half a millisecond for a MiB. */
const BYTES_PER_MS = 32 * 1024
/** Shorter pauses than a timer can keep are added up. */
const PAUSE_MIN_MS = 5

/** For every response, of the router and of Node too, which no hook sees. */
export function readUnreadBodies(server: Server): void {
  const readAtPace = createPace(BYTES_PER_MS)
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // Before Node's own listener, which reads what nothing has begun to read.
    response.prependOnceListener('finish', () => {
      if (!request.complete && request.readableFlowing === null) readAtPace(request)
    })
  })
}

/** @returns reads a body to its end and drops it, at most `bytesPerMs` of all bodies together. */
export function createPace(bytesPerMs: number): (body: IncomingMessage) => void {
  let freeAt = 0
  return (body) => {
    body.on('data', (chunk: Buffer) => {
      const now = performance.now()
      freeAt = Math.max(freeAt, now) + chunk.length / bytesPerMs
      if (freeAt - now < PAUSE_MIN_MS) return
      body.pause()
      // The connection's own limits of time end it when its turn does not come.
      void delay(freeAt - now, undefined, { ref: false }).then(() => body.resume())
    })
  }
}
