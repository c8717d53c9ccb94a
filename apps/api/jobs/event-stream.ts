// Sends what happens as it happens (text/event-stream): the events of a job, or what any other source gives.
import type { ServerResponse } from 'node:http'
import type { Db } from '../../../db/client.js'
import { eventsAfter, type JobEvent } from '../../../db/jobs/job-events.js'
import { ServiceError } from '../../../domain/errors.js'
import { isFinal } from '../../../domain/jobs/job-status.js'
import { createHeldRequests } from '../http/limits/held-requests.js'
import type { JobStates } from './job-states.js'
import type { JobWatches } from './job-watch.js'
import { taskKeyOf } from './task-view.js'

/** Proxies close connections on which nothing is sent for a while. */
const BEAT_MS = 15_000
/** A client continues with `Last-Event-ID`. */
const STREAM_MS = 3_600_000
/** A reader that takes nothing for this long has gone. */
const STALLED_MS = 60_000
const STREAMS_PER_USER_MAX = 20

/** How long a stream lives; tests use shorter times. */
export interface StreamTimes {
  beatMs?: number
  streamMs?: number
  stalledMs?: number
}

export interface EventStreams {
  /**
   * Takes a place for a stream of the user. @returns a function that frees it.
   * @throws ServiceError `rate_limited`.
   */
  enter(userId: string): () => void
  /** Whether the job has ended, and nothing can come after the event with this number. */
  isOver(jobId: string, after: number): Promise<boolean>
  /**
   * Writes what a source gives. Ends the response as `send` does, but for the end of a job.
   * @param join opens the source, which calls `wake` when there is something to take.
   */
  pass(
    join: (wake: () => void) => { take(): string; leave(): void },
    options: { follow: boolean },
    response: ServerResponse,
    mayRead: () => Promise<boolean>
  ): Promise<void>
  /**
   * Writes the events after `after` and those to come. Ends the response after a final status, when the reader leaves or
   * stops reading, after an hour, when `mayRead` (called with each heartbeat) returns `false`, or when this process stops.
   * @param follow `false`: ends the response after the events that there are.
   */
  send(
    jobId: string,
    from: { after: number; follow: boolean },
    response: ServerResponse,
    mayRead: () => Promise<boolean>
  ): Promise<void>
}

export function createEventStreams(
  db: Db,
  states: JobStates,
  watches: JobWatches,
  { beatMs = BEAT_MS, streamMs = STREAM_MS, stalledMs = STALLED_MS }: StreamTimes = {}
): EventStreams {
  const held = createHeldRequests(STREAMS_PER_USER_MAX)
  return {
    enter(userId) {
      const leave = held.enter(userId)
      if (!leave)
        throw new ServiceError('rate_limited', `You have ${STREAMS_PER_USER_MAX} streams of events open; close one`, {
          retryAfterSeconds: Math.ceil(beatMs / 1_000)
        })
      return leave
    },
    async isOver(jobId, after) {
      const state = await states.read(jobId)
      return state !== null && isFinal(state.status) && after >= state.seq
    },
    async pass(join, { follow }, response, mayRead) {
      const watch = watches.open(null)
      const source = join(watch.wake)
      response.once('close', watch.wake)
      const endsAt = performance.now() + streamMs
      let beatAt = performance.now() + beatMs
      try {
        while (!watches.closed && !response.destroyed && performance.now() < endsAt) {
          if (performance.now() >= beatAt) {
            if (!(await mayRead())) return
            await write(response, ':\n\n', stalledMs)
            beatAt = performance.now() + beatMs
          }
          watch.reading()
          await write(response, source.take(), stalledMs)
          if (!follow) return
          await watch.news(Math.max(0, Math.min(beatAt, endsAt) - performance.now()))
        }
      } finally {
        source.leave()
        watch.end()
        response.off('close', watch.wake)
        response.end()
      }
    },
    async send(jobId, { after, follow }, response, mayRead) {
      const watch = watches.open(jobId)
      response.once('close', watch.wake)
      const endsAt = performance.now() + streamMs
      let beatAt = performance.now() + beatMs
      let last = after

      /** @returns whether the final status is among the written events. */
      async function writeEvents(): Promise<boolean> {
        watch.reading()
        // Before the events: the one that belongs to a final status is then among them.
        const state = await states.read(jobId)
        while (state && state.seq > last && !response.destroyed) {
          const events = await eventsAfter(db, jobId, last)
          await write(response, events.map(frameOf).join(''), stalledMs)
          if (events.length === 0) break
          last = events.at(-1)!.seq
        }
        return state === null || isFinal(state.status)
      }

      try {
        while (!watches.closed && !response.destroyed && performance.now() < endsAt) {
          if (performance.now() >= beatAt) {
            if (!(await mayRead())) return
            await write(response, ':\n\n', stalledMs)
            beatAt = performance.now() + beatMs
          }
          if ((await writeEvents()) || !follow) return
          await watch.news(Math.max(0, Math.min(beatAt, endsAt) - performance.now()))
        }
      } finally {
        watch.end()
        response.off('close', watch.wake)
        response.end()
      }
    }
  }
}

/** Resolves when the reader has taken the text, or has left. A reader that takes nothing is disconnected. */
async function write(response: ServerResponse, text: string, stalledMs: number): Promise<void> {
  if (text === '' || response.destroyed || response.write(text)) return
  await new Promise<void>((resolve) => {
    const stalled = setTimeout(() => response.destroy(), stalledMs)
    const done = () => {
      clearTimeout(stalled)
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
}

const frameOf = (event: JobEvent): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(dataOf(event))}\n\n`

function dataOf({ seq, type, status, reason, task, attempt, attemptState, at, ...output }: JobEvent) {
  if (type === 'status') return { seq, type, status, reason, at: at.toISOString() }
  if (type === 'output')
    return {
      seq,
      type,
      ...(task && { task }),
      attempt,
      text: output.text ?? '',
      offset: output.textOffset ?? 0,
      ...(output.text === null && { removed: true }),
      ...(output.truncatedBytes !== null && { truncated_bytes: output.truncatedBytes }),
      at: at.toISOString()
    }
  return { seq, type, task: taskKeyOf(task ?? ''), number: attempt, state: attemptState, status, at: at.toISOString() }
}
