// Kills parts of a running stack with SIGKILL by process id; the supervisor restarts them.
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning } from '../../tools/process-lock.mjs'
import { eventually } from '../support/eventually.js'
import type { QjobStart } from '../support/stack/qjob-start.js'
import type { Chance } from './chance.js'

export const killedParts = ['api', 'worker', 'executor', 'redis', 'temporal', 'postgres'] as const
export type KilledPart = (typeof killedParts)[number]
export type Kills = Record<KilledPart, number>

/** A part that is killed repeatedly is restarted after up to 30 s and has a minute to start, on a busy machine more than once. */
const RECOVERY_LIMIT_MS = 240_000
/** How often a second part is killed before the first has recovered. */
const PAIR_SHARE = 0.2

/**
 * Kills every part once in each round, in random order, one about every `everyMs`. Waits for a part that is still being
 * restarted.
 */
export async function killInRounds(
  stack: QjobStart,
  chance: Chance,
  options: { rounds: number; everyMs: number; say: (line: string) => void }
): Promise<Kills> {
  const kills = Object.fromEntries(killedParts.map((part) => [part, 0])) as Kills
  const began = performance.now()
  for (let round = 0; round < options.rounds; round++)
    for (const part of chance.shuffled(killedParts)) {
      const together = chance.holds(PAIR_SHARE)
      await delay(together ? chance.between(0, 200) : options.everyMs * chance.between(0.3, 1.7))
      const { pid } = await eventually(() => runningPart(stack, part), {
        timeoutMs: RECOVERY_LIMIT_MS,
        message: () => `${part} does not recover:\n${stack.stderr}`
      })
      process.kill(pid, 'SIGKILL')
      kills[part] += 1
      options.say(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  killed ${part} (process ${pid})`)
    }
  return kills
}

/** The part's process if it runs. Identified by its start time too, so that a reused id is never killed. */
function runningPart(stack: QjobStart, part: KilledPart) {
  const identity = stack.processes()[part]
  return identity && isRunning(identity) ? identity : null
}

/** Waits until every part runs and the service is ready. */
export async function untilRecovered(stack: QjobStart, base: string): Promise<void> {
  await eventually(
    async () => {
      if (!killedParts.every((part) => runningPart(stack, part))) return false
      const response = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(5_000) })
      await response.arrayBuffer()
      return response.status === 200
    },
    { timeoutMs: RECOVERY_LIMIT_MS, everyMs: 250, message: () => `the stack does not recover:\n${stack.stderr}` }
  )
}
