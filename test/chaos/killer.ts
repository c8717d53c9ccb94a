// Ends parts of a running stack with SIGKILL, by process id; its supervisor starts them again.
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning } from '../../tools/process-lock.mjs'
import { eventually } from '../support/eventually.js'
import type { QjobStart } from '../support/stack/qjob-start.js'
import type { Chance } from './chance.js'

export const killedParts = ['api', 'worker', 'executor', 'redis', 'temporal', 'postgres'] as const
export type KilledPart = (typeof killedParts)[number]
export type Kills = Record<KilledPart, number>

/** A part that falls again and again is started again after up to 30 s, and given a minute; on a busy machine not the first time. */
const BACK_LIMIT_MS = 240_000
/** How often a second part falls before the first is back. */
const PAIR_SHARE = 0.2

/**
 * Kills every part once in each round, in random order, about one in each `everyMs`. A part whose turn it is while it is
 * being started is waited for.
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
        timeoutMs: BACK_LIMIT_MS,
        message: () => `${part} does not come back:\n${stack.stderr}`
      })
      process.kill(pid, 'SIGKILL')
      kills[part] += 1
      options.say(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  killed ${part} (process ${pid})`)
    }
  return kills
}

/** The part's process, when it runs. Named by its start as well, so that a reused id is never hit. */
function runningPart(stack: QjobStart, part: KilledPart) {
  const identity = stack.processes()[part]
  return identity && isRunning(identity) ? identity : null
}

/** Waits until every part runs and the service says that it is ready. */
export async function untilCalm(stack: QjobStart, base: string): Promise<void> {
  await eventually(
    async () => {
      if (!killedParts.every((part) => runningPart(stack, part))) return false
      const answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(5_000) })
      await answer.arrayBuffer()
      return answer.status === 200
    },
    { timeoutMs: BACK_LIMIT_MS, everyMs: 250, message: () => `the stack does not come back:\n${stack.stderr}` }
  )
}
