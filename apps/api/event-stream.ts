// Sends the events of a job as they happen (text/event-stream). Level-triggered as job-waits.ts: subscribe, then read, and
// read again at every notice and every few seconds, so that a lost notice costs time and nothing else.
import type { ServerResponse } from 'node:http'
import type { Db } from '../../db/client.js'
import type { JobListener } from '../../db/job-changes.js'
import { eventsAfter, type JobEvent } from '../../db/job-events.js'
import { isFinal } from '../../domain/job-status.js'

const READ_AGAIN_MS = 5_000
/** A proxy that hears nothing for a while closes the connection. */
const BEAT_MS = 15_000

export interface EventStreams {
  /**
   * Writes the events after `after` and those to come; ends the response after a final status, when the reader leaves, or
   * when this process stops.
   */
  send(jobId: string, after: number, response: ServerResponse): Promise<void>
  close(): void
}

export function createEventStreams(db: Db, listener: JobListener): EventStreams {
  let closed = false
  const open = new Set<() => void>()
  return {
    async send(jobId, after, response) {
      let changed = false
      let resume = () => {}
      const wake = () => {
        changed = true
        resume()
      }
      const unsubscribe = listener.on(jobId, wake)
      open.add(wake)
      response.once('close', wake)
      const beat = setInterval(() => response.write(':\n\n'), BEAT_MS)
      let last = after
      try {
        while (!closed && !response.destroyed) {
          changed = false
          const events = await eventsAfter(db, jobId, last)
          for (const event of events) response.write(frameOf(event))
          last = events.at(-1)?.seq ?? last
          if (isFinal((events.at(-1) ?? (await lastEvent(db, jobId)))?.status ?? 'pending')) return
          if (changed) continue
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, READ_AGAIN_MS)
            resume = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        }
      } finally {
        clearInterval(beat)
        unsubscribe()
        open.delete(wake)
        response.off('close', wake)
        response.end()
      }
    },
    close() {
      closed = true
      for (const wake of open) wake()
    }
  }
}

/** Who resumes after the last event of a job that is over has nothing to wait for. */
async function lastEvent(db: Db, jobId: string): Promise<JobEvent | undefined> {
  return (await eventsAfter(db, jobId, 0)).at(-1)
}

const frameOf = ({ seq, type, status, reason, at }: JobEvent): string =>
  `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type, status, reason, at: at.toISOString() })}\n\n`
