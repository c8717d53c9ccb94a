// Waits until a capsule run is over. The run does not depend on the wait.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal } from '../../../domain/jobs/job-status.js'
import type { ApiClient, ServiceResponse } from '../session/api-client.js'
import { CliError, exitCodes } from '../terminal/cli-error.js'
import { printNotice } from '../terminal/output.js'
import { startProgress } from '../terminal/progress.js'
import { errScreen, idFor } from '../terminal/screen.js'
import { type CapsuleRun, isOver } from './capsule-record.js'

/** The pauses between two requests: short at first, later well below the rate limit of reads. */
const PAUSES_MS = [250, 500, 1_000, 2_000]
/** A restarting service is back well within this time. */
const AWAY_LIMIT_MS = 60_000

/** Resolves with the run when it is over. On Ctrl-C, prints how to continue and exits the process. */
export async function waitForRun(api: ApiClient, capsule: string, id: string): Promise<ServiceResponse<CapsuleRun>> {
  const progress = startProgress()
  const onSignal = () => {
    progress.end()
    const short = (of: string) => idFor(of, errScreen())
    printNotice(`The run continues.\nFollow it with: qjob capsule runs ${short(capsule)} --run ${short(id)} --wait`)
    process.exit(exitCodes.interrupted)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  let respondedAt = Date.now()
  try {
    for (let look = 0; ; look++) {
      try {
        const response = await api.get<CapsuleRun>(`/api/capsules/${capsule}/runs/${id}`)
        if (isOver(response.value)) return response
        respondedAt = Date.now()
        progress.show(progressText(response.value))
      } catch (error) {
        const away = error instanceof CliError && error.kind === 'unreachable'
        if (!away || Date.now() - respondedAt > AWAY_LIMIT_MS) throw error
        progress.show('the service does not respond; retrying')
      }
      await delay(PAUSES_MS[Math.min(look, PAUSES_MS.length - 1)])
    }
  } finally {
    progress.end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
  }
}

function progressText({ status, tasks }: CapsuleRun): string {
  if (status === 'judging') return 'comparing the results'
  const over = tasks.filter((task) => isFinal(task.status)).length
  return tasks.length === 1 ? `the run is ${status}` : `the run is ${status}, ${over} of ${tasks.length} tasks`
}
