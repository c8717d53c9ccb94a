// Follows the progress of a job and its tasks. Waiting for the job does not depend on it, so failures here are retried
// silently.
import { setTimeout as delay } from 'node:timers/promises'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import type { ApiClient } from '../session/api-client.js'
import type { Progress, Task } from './job-record.js'
import { isGraph } from './task-timeline.js'

/**
 * The pause between two reads of the tasks, which count against the user's rate limit of 100 reads a minute. Long jobs are
 * read less often.
 */
const pauseAfter = (reads: number): number => [500, 1_000, 2_000][reads] ?? (reads < 40 ? 3_000 : 10_000)
/** The pause before a broken event stream is opened again. */
const RECONNECT_MS = 3_000
/** The tasks are read again after this time without events, in case one was lost. */
const REFRESH_MS = 20_000
const NAMES_SHOWN = 3

export interface JobObserver {
  status(status: JobStatus): void
  /** A line such as `3 of 10 tasks done, running: energy`, or `30 of 100 points done`. */
  tasks(text: string): void
}

interface Steps {
  tasks: Task[]
  progress: Progress | null
}

/** Notifies `observer` of each change until `signal` is aborted. */
export async function watchJob(
  api: ApiClient,
  jobId: string,
  observer: JobObserver,
  signal: AbortSignal
): Promise<void> {
  const events = followEvents(api, jobId, observer, signal)
  for (let reads = 0; !signal.aborted; reads++) {
    const nextEvent = events.next(REFRESH_MS)
    try {
      const path = `/api/jobs/${jobId}/tasks`
      const { tasks, progress } = (await api.get<Steps>(path, { patient: false })).value
      if (isGraph(jobId, tasks) && !signal.aborted) observer.tasks(tasksText(tasks))
      else if (progress && !signal.aborted) observer.tasks(progressText(progress))
    } catch {
      // The next read may succeed.
    }
    await Promise.all([pause(pauseAfter(reads), signal), nextEvent])
  }
}

/** Follows the events of the job. `next` resolves at the next event, after `mostMs`, or on abort. */
function followEvents(
  api: ApiClient,
  jobId: string,
  observer: JobObserver,
  signal: AbortSignal
): { next(mostMs: number): Promise<void> } {
  let wake = () => {}
  const read = async () => {
    while (!signal.aborted) {
      try {
        for await (const line of api.lines(`/api/jobs/${jobId}/events`, signal)) {
          if (!line.startsWith('data:')) continue
          const event = JSON.parse(line.slice('data:'.length)) as { type: string; status: JobStatus }
          if (event.type === 'status') observer.status(event.status)
          if (event.type !== 'output') wake()
        }
      } catch {
        // The stream is opened again after the pause.
      }
      await pause(RECONNECT_MS, signal)
    }
  }
  void read()
  signal.addEventListener('abort', () => wake(), { once: true })
  return {
    next: (mostMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, mostMs)
        timer.unref()
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal, ref: false }).catch(() => {})

export const progressText = ({ points_total: total, points_done: done, points_failed: failed }: Progress): string =>
  `${done} of ${total} points done${failed > 0 ? `, ${failed} failed` : ''}`

export function tasksText(tasks: Task[]): string {
  const count = (state: string) => tasks.filter((task) => task.state === state).length
  const failed = count('failed')
  const names = tasks.filter((task) => task.state === 'running').map((task) => task.name)
  const rest = names.length - NAMES_SHOWN
  return [
    `${count('completed')} of ${tasks.length} tasks done`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(names.length > 0
      ? [`running: ${names.slice(0, NAMES_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`]
      : [])
  ].join(', ')
}
