// Waits until a job has finished. The job does not depend on the wait: Ctrl-C, a lost connection or a restart of the service
// leave it running.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../../domain/jobs/job-status.js'
import type { ApiClient, ServiceResponse } from '../session/api-client.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { printNotice } from '../terminal/output.js'
import { startProgress } from '../terminal/progress.js'
import { errScreen, idFor } from '../terminal/screen.js'
import type { JobRecord } from './job-record.js'
import { type JobObserver, watchJob } from './job-watch.js'

/** Below 22 s, the longest time that the service lets a status request wait. */
const WAIT_SECONDS = 20
/** A restarting service is back well within this time. */
const AWAY_LIMIT_MS = 60_000
/** The order of the statuses that are not final. */
const order: JobStatus[] = ['pending', 'running', 'cancelling']
/** The pause between two requests that return at once, such as those to a service that is stopping. */
const PAUSE_MS = 250

/**
 * Resolves with the record of the job when its status is final. On Ctrl-C, prints how to continue and exits the process.
 * @param options.lines prints the progress of the job and its tasks in lines where there is no terminal.
 */
export async function waitForJob(
  api: ApiClient,
  id: string,
  options: { lines?: boolean } = {}
): Promise<ServiceResponse<JobRecord>> {
  const progress = startProgress(options)
  const onSignal = () => {
    progress.end()
    const named = idFor(id, errScreen())
    printNotice(`The job continues.\nFollow it with: qjob job ${named} --wait\nCancel it with: qjob cancel ${named}`)
    process.exit(exitCodes.interrupted)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  const ending = new AbortController()
  let status: JobStatus = 'pending'
  let tasks = ''
  // With the id there would be no room for the tasks.
  const show = () => progress.show(tasks ? `${status}, ${tasks}` : `job ${id} is ${status}`)
  const observer: JobObserver = {
    status(next) {
      // The stream begins with the first event. The final status is not shown in this line.
      if (isFinal(next) || order.indexOf(next) < order.indexOf(status)) return
      status = next
      show()
    },
    tasks(text) {
      tasks = text
      show()
    }
  }
  if (progress.visible) void watchJob(api, id, observer, ending.signal)
  try {
    await untilFinal(api, id, observer, () => progress.show('the service does not respond; retrying'))
    return await api.get<JobRecord>(`/api/jobs/${id}`)
  } finally {
    ending.abort()
    progress.end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
  }
}

async function untilFinal(api: ApiClient, id: string, observer: JobObserver, onAway: () => void): Promise<void> {
  let respondedAt = Date.now()
  let wait = 0
  for (;;) {
    const requestedAt = Date.now()
    try {
      const { status } = (await api.get<{ status: JobStatus }>(`/api/jobs/${id}/status?wait=${wait}`)).value
      respondedAt = Date.now()
      if (isFinal(status)) return
      observer.status(status)
      wait = WAIT_SECONDS
    } catch (error) {
      const away = error instanceof CliError && error.kind === 'unreachable'
      if (!away || Date.now() - respondedAt > AWAY_LIMIT_MS) throw error
      onAway()
      wait = 0
    }
    await delay(Math.max(0, PAUSE_MS - (Date.now() - requestedAt)))
  }
}

/** The exit code for the final status of a job. */
export const exitCodeOf = (status: JobStatus): number => (status === 'completed' ? exitCodes.done : exitCodes.jobFailed)
