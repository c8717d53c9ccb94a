// Waits for the executors: for a permit of this process's gate, while those that can do the work are busy, and while they
// are away. Waiting is not an attempt of a job.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutorClient, Reserved } from './client.js'
import type { GateCall, GateEntrance, Seat } from './gate.js'
import { type Away, isUntaken, type Refusal } from './stream.js'

/** Between two tries at executors that refuse at once, which is rare: they let calls wait for their turn. */
const BUSY_FIRST_MS = 100
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
 * Repeats the request while the service is busy or away, each time at another executor as long as there is one. Rejects
 * when `signal` aborts. A service that only fails at this job would do so each time: such a job is refused. While it fails at
 * every job, the job waits, whatever the response.
 * @throws ComeBackLater where the caller yields its slot.
 */
export async function whenExecutorCan<End extends { kind: string }>(
  { gate, log, yieldsSlot = false }: WaitDeps,
  call: GateCall,
  signal: AbortSignal,
  request: (executor: ExecutorClient) => Promise<End | Refusal>
): Promise<Waited<End>> {
  const used = (reserved: Reserved) => request(reserved.executor).finally(reserved.release)
  let awaySince: number | null = null
  while (true) {
    if (yieldsSlot && !gate.hasRoom(call)) throw new ComeBackLater('other jobs wait for the execution service', null)
    const seat = await gate.enter(call, signal)
    const end = 'kind' in seat ? seat : await atOneThatCan(seat, signal, used).finally(seat.leave)
    if (isElsewhere(end)) continue
    const awayMs = gate.noteResponse(!isAway(end), call)
    if (!isAway(end)) return end as Waited<End>
    if (end.why === 'fault' && gate.noteFault(call.job) >= FAULTS_MAX) {
      log.error({ jobId: call.job, teamId: call.team, reason: end.message }, 'the execution service fails at this job')
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

/** A permit and a slot of an executor, for a call that follows. */
export interface HeldSeat {
  /** The gate for that call: its first entrance is this seat. */
  gate: GateEntrance
  /** Gives back what no call has used. */
  release(): void
}

/**
 * Waits for a permit and a slot before it is known whether the work still has to be done. Rejects when `signal` aborts.
 * @returns the refusal of work that waited for an absent service too long.
 */
export async function holdSeat(
  { gate, log }: Pick<WaitDeps, 'gate' | 'log'>,
  call: GateCall,
  signal: AbortSignal
): Promise<HeldSeat | Extract<Refusal, { kind: 'refused' }>> {
  const held = async (reserved: Reserved) => ({ kind: 'held' as const, reserved })
  let awaySince: number | null = null
  while (true) {
    const seat = await gate.enter(call, signal)
    const end = 'kind' in seat ? seat : await atOneThatCan(seat, signal, held).catch(leaving(seat))
    if (end.kind === 'held' && !('kind' in seat)) return heldSeat(gate, seat, end.reserved)
    if (!('kind' in seat)) seat.leave()
    if (isElsewhere(end)) continue
    if (end.kind === 'refused') return end
    awaySince ??= performance.now()
    const awayMs = Math.min(gate.noteResponse(false, call), performance.now() - awaySince)
    if (isTooLong(awayMs)) return { kind: 'refused', message: tooLongAway('message' in end ? end.message : end.kind) }
    log.warn({ reason: 'message' in end ? end.message : end.kind }, 'execution service away; waiting')
    await sleep(AWAY_MS, undefined, { signal })
  }
}

const leaving = (seat: Seat) => (error: unknown) => {
  seat.leave()
  throw error
}

function heldSeat(gate: GateEntrance, seat: Seat, reserved: Reserved): HeldSeat {
  let isFirst = true
  let isFresh = true
  const first: Seat = {
    ...seat,
    async reserve(signal) {
      if (!isFresh) return seat.reserve(signal)
      isFresh = false
      return reserved
    }
  }
  return {
    gate: {
      ...gate,
      async enter(call, signal) {
        if (!isFirst) return gate.enter(call, signal)
        isFirst = false
        return first
      }
    },
    release() {
      reserved.release()
      seat.leave()
    }
  }
}

interface Elsewhere {
  kind: 'elsewhere'
}
const isElsewhere = (end: { kind: string }): end is Elsewhere => end.kind === 'elsewhere'

/**
 * Makes the request at one executor after the other. While one of them is busy, because other workers use its slots, the
 * call keeps its turn and begins anew.
 * @returns the absence of all, or the end at one of them. `elsewhere`: the call waits for a place at one that is there.
 */
async function atOneThatCan<End extends { kind: string }>(
  seat: Seat,
  signal: AbortSignal,
  request: (reserved: Reserved) => Promise<End | Refusal>
): Promise<End | Refusal | Elsewhere> {
  let busyMs = BUSY_FIRST_MS
  let isBusy = false
  let away: Away | null = null
  while (true) {
    const began = performance.now()
    const reserved = await seat.reserve(signal)
    const end = reserved.kind === 'reserved' ? await request(reserved) : reserved
    if (!isUntaken(end)) return end
    if (end.kind === 'busy') isBusy = true
    // Only where every executor fails at it, the call is at fault.
    else if (!away || away.why === 'fault') away = end
    const next = seat.moveOn(end)
    if (next === 'moved') continue
    // One that failed at the call could get it again at once.
    if (!isBusy) return next === 'full' && away!.why !== 'fault' ? { kind: 'elsewhere' } : away!
    // Jitter keeps several workers from trying at the same moments.
    const pauseMs = busyMs * (0.75 + Math.random() / 2) - (performance.now() - began)
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal })
    busyMs = Math.min(busyMs * 2, BUSY_MAX_MS)
    isBusy = false
    away = null
    seat.again()
  }
}

const isAway = (end: { kind: string }): end is Extract<Refusal, { kind: 'away' }> => end.kind === 'away'
