// Waits for the end of a job. The job does not depend on the wait: Ctrl-C, a lost connection or a service that restarts
// leave it running.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../../domain/jobs/job-status.js'
import type { Answer, ApiClient } from '../session/api-client.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { say } from '../terminal/output.js'
import { startProgress } from '../terminal/progress.js'
import type { JobRecord } from './job-record.js'
import { type JobSight, watchJob } from './job-watch.js'

/** Below the 22 s that the service holds a status request at most. */
const HELD_SECONDS = 20
/** A service that restarts is back well within this time. */
const AWAY_LIMIT_MS = 60_000
/** In which a job goes through those that are not final. */
const order: JobStatus[] = ['pending', 'running', 'cancelling']
/** Between two questions whose answers come at once, such as those of a service that is closing. */
const PAUSE_MS = 250

/**
 * Resolves with the record of the job when it is final. Ends the process on Ctrl-C, saying how to go on.
 * @param options.lines tells how it goes, its tasks too, in lines where there is no terminal.
 */
export async function waitForJob(
  api: ApiClient,
  id: string,
  options: { lines?: boolean } = {}
): Promise<Answer<JobRecord>> {
  const progress = startProgress(options)
  const onSignal = () => {
    progress.end()
    say(`The job goes on. Look at it with: qjob job ${id} --wait   Cancel it with: qjob cancel ${id}`)
    process.exit(exitCodes.interrupted)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  const ending = new AbortController()
  let status: JobStatus = 'pending'
  let tasks = ''
  // The id would leave no room for the tasks.
  const show = () => progress.show(tasks ? `${status}, ${tasks}` : `job ${id} is ${status}`)
  const sight: JobSight = {
    status(seen) {
      // Events are told from the first one on. How it ends is not for this line.
      if (isFinal(seen) || order.indexOf(seen) < order.indexOf(status)) return
      status = seen
      show()
    },
    tasks(text) {
      tasks = text
      show()
    }
  }
  if (progress.visible) void watchJob(api, id, sight, ending.signal)
  try {
    await untilFinal(api, id, sight, () => progress.show('the service does not answer; trying again'))
    return await api.get<JobRecord>(`/api/jobs/${id}`)
  } finally {
    ending.abort()
    progress.end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
  }
}

async function untilFinal(api: ApiClient, id: string, sight: JobSight, onAway: () => void): Promise<void> {
  let answeredAt = Date.now()
  let wait = 0
  for (;;) {
    const askedAt = Date.now()
    try {
      const { status } = (await api.get<{ status: JobStatus }>(`/api/jobs/${id}/status?wait=${wait}`)).value
      answeredAt = Date.now()
      if (isFinal(status)) return
      sight.status(status)
      wait = HELD_SECONDS
    } catch (error) {
      const away = error instanceof CliError && error.kind === 'unreachable'
      if (!away || Date.now() - answeredAt > AWAY_LIMIT_MS) throw error
      onAway()
      wait = 0
    }
    await delay(Math.max(0, PAUSE_MS - (Date.now() - askedAt)))
  }
}

/** The exit code that tells how a job has ended. */
export const exitCodeOf = (status: JobStatus): number => (status === 'completed' ? exitCodes.done : exitCodes.jobFailed)
