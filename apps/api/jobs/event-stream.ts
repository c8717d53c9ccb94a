// Sends the events of a job as they happen (text/event-stream).
import type { ServerResponse } from 'node:http'
import type { Db } from '../../../db/client.js'
import { eventsAfter, type JobEvent } from '../../../db/jobs/job-events.js'
import { isFinal } from '../../../domain/jobs/job-status.js'
import type { JobStates } from './job-states.js'
import type { JobWatches } from './job-watch.js'
import { taskKeyOf } from './task-view.js'

/** Proxies close connections on which nothing is sent for a while. */
const BEAT_MS = 15_000

export interface EventStreams {
  /**
   * Writes the events after `after` and those to come; ends the response after a final status, when the reader leaves, or when
   * this process stops.
   */
  send(jobId: string, after: number, response: ServerResponse): Promise<void>
}

export const createEventStreams = (db: Db, states: JobStates, watches: JobWatches): EventStreams => ({
  async send(jobId, after, response) {
    const watch = watches.open(jobId)
    response.once('close', watch.wake)
    const beat = setInterval(() => response.write(':\n\n'), BEAT_MS)
    let last = after
    try {
      while (!watches.closed && !response.destroyed) {
        watch.reading()
        // Before the events: the one that belongs to a final status is then among them.
        const state = await states.read(jobId)
        const events = state && state.seq > last ? await eventsAfter(db, jobId, last) : []
        for (const event of events) response.write(frameOf(event))
        last = events.at(-1)?.seq ?? last
        if (state === null || isFinal(state.status)) return
        await watch.news()
      }
    } finally {
      clearInterval(beat)
      watch.end()
      response.off('close', watch.wake)
      response.end()
    }
  }
})

const frameOf = (event: JobEvent): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`

function dataOf({ seq, type, status, reason, task, attempt, attemptState, at }: JobEvent) {
  if (type === 'status') return { seq, type, status, reason, at: at.toISOString() }
  return { seq, type, task: taskKeyOf(task ?? ''), number: attempt, state: attemptState, status, at: at.toISOString() }
}
