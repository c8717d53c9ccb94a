// Reads the events of a job once or until it has finished. A stream that breaks off is opened again after the last event
// that arrived, so none is missing or comes twice.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../../domain/jobs/job-status.js'
import type { ApiClient } from '../session/api-client.js'
import { CliError } from '../terminal/cli-error.js'

/** The pause before a stream is opened again. */
const RECONNECT_MS = 1_000
/** A restarting service is back well within this time. */
const AWAY_LIMIT_MS = 60_000

export interface OutputEvent {
  type: 'output'
  seq: number
  /** Absent for the job itself. */
  task?: string
  attempt: number
  text: string
  offset: number
  /** How many bytes the attempt printed after the last text that is kept, so far. */
  truncated_bytes?: number
  /** The text is no longer kept. */
  removed?: true
  at: string
}

export type JobEvent =
  | OutputEvent
  | { type: 'status'; seq: number; status: JobStatus }
  | { type: 'attempt'; seq: number }

/**
 * The events of a job from its first.
 * @param follow until its final status; otherwise those so far.
 * @param onAway is called when the service stops responding, and is tried again.
 * @throws CliError `refused`, or `unreachable` after a minute without a response.
 */
export async function* jobEvents(
  api: ApiClient,
  jobId: string,
  follow: boolean,
  onAway: () => void
): AsyncGenerator<JobEvent> {
  const path = `/api/jobs/${jobId}/events${follow ? '' : '?follow=false'}`
  const never = new AbortController().signal
  let last = 0
  let heardAt = Date.now()
  let away = false
  for (;;) {
    try {
      for await (const line of api.lines(path, never, { 'last-event-id': String(last) })) {
        heardAt = Date.now()
        away = false
        if (!line.startsWith('data:')) continue
        const event = JSON.parse(line.slice('data:'.length)) as JobEvent
        last = event.seq
        yield event
        if (event.type === 'status' && isFinal(event.status)) return
      }
      if (!follow) return
      heardAt = Date.now()
    } catch (error) {
      if (error instanceof CliError && error.kind === 'refused') throw error
      if (Date.now() - heardAt > AWAY_LIMIT_MS) throw unreachable(api, error)
      if (!away) onAway()
      away = true
    }
    await delay(RECONNECT_MS)
  }
}

const unreachable = (api: ApiClient, error: unknown): CliError =>
  error instanceof CliError
    ? error
    : new CliError('unreachable', `${api.url} does not respond: ${(error as Error).message}`, {}, { cause: error })
