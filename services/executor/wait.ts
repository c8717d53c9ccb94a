// Waits for the execution service: for a permit of this process's gate, while the service is busy, and while it is away.
// Waiting is not an attempt of a job.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutorGate } from './gate.js'
import type { Refusal } from './stream.js'

const BUSY_FIRST_MS = 100
const BUSY_MAX_MS = 2_000
const AWAY_MS = 5_000
/** A longer unbroken absence of the executor fails the job. */
const AWAY_DEADLINE_MS = 24 * 3_600_000

export interface WaitDeps {
  gate: ExecutorGate
  log: { warn(detail: object, message: string): void }
}

/** The possible outcomes after waiting: neither busy nor away. */
export type Waited<End> = Exclude<End, { kind: 'busy' } | { kind: 'away' }> | Extract<Refusal, { kind: 'refused' }>

/** Repeats the request while the service is busy or away. Rejects when `signal` aborts. */
export async function whenExecutorCan<End extends { kind: string }>(
  { gate, log }: WaitDeps,
  signal: AbortSignal,
  request: () => Promise<End | Refusal>
): Promise<Waited<End>> {
  let busyMs = BUSY_FIRST_MS
  let awaySince: number | null = null
  while (true) {
    const leave = await gate.enter(signal)
    const end = (await request().finally(leave)) as End | Refusal
    if (isBusy(end)) {
      awaySince = null
      // Jitter keeps several workers from trying at the same moments.
      await sleep(busyMs * (0.75 + Math.random() / 2), undefined, { signal })
      busyMs = Math.min(busyMs * 2, BUSY_MAX_MS)
    } else if (isAway(end)) {
      awaySince ??= performance.now()
      if (performance.now() - awaySince > AWAY_DEADLINE_MS)
        return { kind: 'refused', message: `the execution service could not be reached for 24 hours (${end.message})` }
      log.warn({ reason: end.message }, 'execution service away; waiting')
      await sleep(AWAY_MS, undefined, { signal })
    } else return end as Waited<End>
  }
}

const isBusy = (end: { kind: string }): boolean => end.kind === 'busy'
const isAway = (end: { kind: string }): end is Extract<Refusal, { kind: 'away' }> => end.kind === 'away'
