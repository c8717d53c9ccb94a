// Waits for the execution service: for a permit of this process's gate, while the service is busy, and while it is away.
// Waiting is not an attempt of a job.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Owner } from '../../domain/teams/turns.js'
import type { GateEntrance } from './gate.js'
import type { Refusal } from './stream.js'

const BUSY_FIRST_MS = 100
/** Short, since the call keeps its permit and its turn while it waits. */
const BUSY_MAX_MS = 500
const AWAY_MS = 5_000
const AWAY_DEADLINE_MS = 24 * 3_600_000
/** How often the executor may fail at a job while it serves others. */
const FAULTS_MAX = 3

export interface WaitDeps {
  gate: GateEntrance
  log: Record<'warn' | 'error', (detail: object, message: string) => void>
  /** The caller is repeated later, and holds a slot of its own while it waits: a long wait ends with `ComeBackLater`. */
  yieldsSlot?: boolean
}

/** The wait would hold the caller's slot for long: the caller comes back later. Nothing has been executed. */
export class ComeBackLater extends Error {
  /** @param awayMs how long the execution service could not be reached; `null` when it is there, and others wait. */
  constructor(
    message: string,
    readonly awayMs: number | null
  ) {
    super(message)
  }
}

/** The possible outcomes after waiting: neither busy nor away. */
export type Waited<End> = Exclude<End, { kind: 'busy' } | { kind: 'away' }> | Extract<Refusal, { kind: 'refused' }>

/**
 * Repeats the request while the service is busy or away. Rejects when `signal` aborts. A service that only fails at this job
 * would do so each time: such a job is refused. One that serves nobody is waited for, whatever it responds with.
 * @throws ComeBackLater where the caller yields its slot.
 */
export async function whenExecutorCan<End extends { kind: string }>(
  { gate, log, yieldsSlot = false }: WaitDeps,
  owner: Owner,
  signal: AbortSignal,
  request: () => Promise<End | Refusal>
): Promise<Waited<End>> {
  let awaySince: number | null = null
  while (true) {
    if (yieldsSlot && !gate.hasRoom(owner.team))
      throw new ComeBackLater('other jobs wait for the execution service', null)
    const leave = await gate.enter(owner, signal)
    const end = await whileBusy(signal, request).finally(leave)
    const awayMs = gate.noteResponse(!isAway(end))
    if (!isAway(end)) return end as Waited<End>
    if (end.fault && gate.noteFault(owner.job) >= FAULTS_MAX) {
      log.error(
        { jobId: owner.job, teamId: owner.team, reason: end.message },
        'the execution service fails at this job'
      )
      return { kind: 'refused', code: 'execution_service_lost', message: failsAlways(end.message) }
    }
    awaySince ??= performance.now()
    if (isTooLong(performance.now() - awaySince)) return { kind: 'refused', message: tooLongAway(end.message) }
    log.warn({ reason: end.message }, 'execution service away; waiting')
    if (yieldsSlot) throw new ComeBackLater(end.message, awayMs)
    await sleep(AWAY_MS, undefined, { signal })
  }
}

export const tooLongAway = (reason: string): string =>
  `the execution service could not be reached for 24 hours (${reason})`

const failsAlways = (reason: string): string =>
  `the execution service failed ${FAULTS_MAX} times at this job, and served others meanwhile (${reason}); an operator has to check its log`

/** A longer unbroken absence of the executor fails the job. */
export const isTooLong = (awayMs: number): boolean => awayMs > AWAY_DEADLINE_MS

/** The slots are taken by other workers: the call keeps its turn, and tries again. */
async function whileBusy<End extends { kind: string }>(
  signal: AbortSignal,
  request: () => Promise<End | Refusal>
): Promise<End | Refusal> {
  let busyMs = BUSY_FIRST_MS
  while (true) {
    const end = await request()
    if (end.kind !== 'busy') return end
    // Jitter keeps several workers from trying at the same moments.
    await sleep(busyMs * (0.75 + Math.random() / 2), undefined, { signal })
    busyMs = Math.min(busyMs * 2, BUSY_MAX_MS)
  }
}

const isAway = (end: { kind: string }): end is Extract<Refusal, { kind: 'away' }> => end.kind === 'away'
