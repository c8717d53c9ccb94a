// How far a job and its tasks have come, as it happens. Whoever waits for the job does not depend on it: what fails here is
// tried again, and nobody is told.
import { setTimeout as delay } from 'node:timers/promises'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import type { ApiClient } from '../session/api-client.js'
import type { Task } from './job-record.js'
import { isGraph } from './task-timeline.js'

/**
 * Between two looks at the tasks, which count against the limit of reads: 100 a minute for all that the user does. What
 * takes longer is looked at less often.
 */
const pauseAfter = (looks: number): number => [500, 1_000, 2_000][looks] ?? (looks < 40 ? 3_000 : 10_000)
/** Before a stream of events that has broken is asked for again. */
const RECONNECT_MS = 3_000
/** Without news; they may have been lost. */
const LOOK_AGAIN_MS = 20_000
const NAMES_SHOWN = 3

export interface JobSight {
  status(status: JobStatus): void
  /** A line such as `3 of 10 tasks done, running: energy`. */
  tasks(text: string): void
}

/** Tells `sight` of each change until `signal`. */
export async function watchJob(api: ApiClient, jobId: string, sight: JobSight, signal: AbortSignal): Promise<void> {
  const news = listen(api, jobId, sight, signal)
  for (let look = 0; !signal.aborted; look++) {
    const heard = news.next(LOOK_AGAIN_MS)
    try {
      const { tasks } = (await api.get<{ tasks: Task[] }>(`/api/jobs/${jobId}/tasks`)).value
      if (isGraph(jobId, tasks) && !signal.aborted) sight.tasks(tasksText(tasks))
    } catch {
      // The next look may succeed.
    }
    await Promise.all([pause(pauseAfter(look), signal), heard])
  }
}

/** Follows the events of the job. `next` resolves at the next one, after `mostMs`, or with the signal. */
function listen(
  api: ApiClient,
  jobId: string,
  sight: JobSight,
  signal: AbortSignal
): { next(mostMs: number): Promise<void> } {
  let tell = () => {}
  const read = async () => {
    while (!signal.aborted) {
      try {
        for await (const line of api.lines(`/api/jobs/${jobId}/events`, signal)) {
          if (!line.startsWith('data:')) continue
          const event = JSON.parse(line.slice('data:'.length)) as { type: string; status: JobStatus }
          if (event.type === 'status') sight.status(event.status)
          tell()
        }
      } catch {
        // Connected again after the pause.
      }
      await pause(RECONNECT_MS, signal)
    }
  }
  void read()
  signal.addEventListener('abort', () => tell(), { once: true })
  return {
    next: (mostMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, mostMs)
        timer.unref()
        tell = () => {
          clearTimeout(timer)
          resolve()
        }
      })
  }
}

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal, ref: false }).catch(() => {})

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
