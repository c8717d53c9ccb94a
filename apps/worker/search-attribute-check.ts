// Checks the search attributes in Temporal until they are there, and shows what an operator has to do.
import type { Connection } from '@temporalio/client'
import type { Logger } from 'pino'
import type { SearchAttributes } from '../../domain/jobs/dispatch.js'
import { reasonOf } from '../../domain/operations/reason.js'
import { ensureSearchAttributes } from '../../services/dispatch/search-attributes.js'
import { startLoop, type TimerLoop } from './sweeps/timer-loop.js'

const EVERY_MS = 30_000

export interface SearchAttributeCheck extends TimerLoop {
  findings(): string[]
}

export function startSearchAttributeCheck(
  connection: Connection,
  namespace: string,
  wanted: SearchAttributes,
  log: Logger,
  everyMs = EVERY_MS
): SearchAttributeCheck {
  let isDone = false
  let problem: string | null = null
  let logged = ''

  function logOnce(level: 'warn' | 'error', text: string): void {
    if (text !== logged) log[level]({ namespace }, text)
    logged = text
  }

  async function pass(): Promise<boolean> {
    if (isDone) return false
    try {
      problem = await ensureSearchAttributes(connection, namespace, wanted)
      isDone = problem === null
      if (problem) logOnce('error', problem)
    } catch (error) {
      // A hosted Temporal does not list them here. If one is missing, each start is refused by name.
      logOnce('warn', `the search attributes in Temporal could not be listed: ${reasonOf(error)}`)
    }
    return false
  }
  const loop = startLoop('search attributes', everyMs, log, pass)
  return { ...loop, findings: () => (problem === null ? [] : [problem]) }
}
