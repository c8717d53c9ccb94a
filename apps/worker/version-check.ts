// Checks in which version of the workflow code new jobs start, and says so when that is not this worker's.
import type { Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import type { Logger } from 'pino'
import { reasonOf } from '../../domain/operations/reason.js'
import { type CurrentVersion, ensureCurrentVersion } from '../../services/dispatch/workflow-version.js'
import { startLoop, type TimerLoop } from './sweeps/timer-loop.js'

const EVERY_MS = 5_000

export function startVersionCheck(
  temporal: Client,
  taskQueue: string,
  version: WorkerDeploymentVersion,
  log: Logger,
  everyMs = EVERY_MS
): TimerLoop {
  let logged = ''
  function logOnce(level: 'info' | 'warn', detail: object, text: string): void {
    const line = JSON.stringify([detail, text])
    if (line !== logged) log[level]({ ...version, ...detail }, text)
    logged = line
  }
  return startLoop('workflow version', everyMs, log, async () => {
    try {
      const found = await ensureCurrentVersion(temporal, taskQueue, version)
      if (found.state !== 'unknown') logOnce('info', {}, wordsOf(found))
    } catch (error) {
      logOnce('warn', { reason: reasonOf(error) }, 'the current version of the workflow code could not be read or set')
    }
    return false
  })
}

const wordsOf = (found: Exclude<CurrentVersion, { state: 'unknown' }>): string =>
  found.state === 'own'
    ? 'new jobs start in the version of this worker'
    : `new jobs start in version ${found.build}: make the version of this worker current when all of its workers run`
