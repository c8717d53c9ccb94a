// Decides when this worker claims a direct job, and which one: the next job of the team whose turn it is, once a slot is
// reserved for it. An entry of the queue only says that there is work, so another team's job does not wait for the entries
// before its own.
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Db } from '../../../db/client.js'
import { type DirectStart, nextDirectStarts } from '../../../db/job-steps/direct-starts.js'
import { createTurns } from '../../../domain/teams/turns.js'
import type { ExecutorGate } from '../../../services/executor/gate.js'
import type { HeldSeat } from '../../../services/executor/wait.js'

/** Until the next check when every waiting team has as many jobs under way as it is allowed: another team's job may have come. */
const LIMITED_MS = 100
/** The same while a job waits for a place of each engine that others would need. */
const BLOCKED_MS = 500

/** The right to wait for a slot. */
export interface ClaimPlace {
  /** The slot is reserved: another job can wait for one. */
  admitted(): void
  /** The job has finished, or none was claimed. */
  leave(): void
}

export interface ClaimSteps {
  /** Waits for a slot for this job, or another one of its team and engine; `null` when this job no longer waits for one. */
  hold(start: DirectStart, signal: AbortSignal): Promise<HeldSeat | null>
  /** @returns `false` when another worker was faster, or the job has finished. */
  claim(start: DirectStart): Promise<boolean>
}

/** The caller releases the seat. */
export interface Claimed {
  start: DirectStart
  seat: HeldSeat
}

export interface ClaimTurns {
  /** Waits until a job may wait for a slot; `null` when the worker stops instead. */
  place(): Promise<ClaimPlace | null>
  /**
   * Claims the next job.
   * @param entry the job that the entry names.
   * @returns `null` when no job is left, or the worker stops.
   */
  next(entry: string, steps: ClaimSteps): Promise<Claimed | null>
  isClosed(): boolean
  close(): void
}

export function createClaimTurns(db: Db, gate: ExecutorGate): ClaimTurns {
  const turns = createTurns()
  // Claims that chose at the same time would choose the same job, and all but one would have to choose again.
  const oneByOne = pLimit(1)
  const closing = new AbortController()
  /** The jobs that are being claimed, with their teams. */
  const claiming = new Map<string, string>()
  const places: (() => void)[] = []
  /** The engines for which jobs wait. */
  const engines: string[] = []
  /** Claims that wait for a job of their team to finish. */
  const limited = new Set<() => void>()
  let ahead = 0

  /**
   * One job waits for the next slot, so that the slot does not wait for the choice. With a single slot none does: the next
   * job would be chosen before the others are known.
   */
  const mayClaim = () => ahead < Math.max(0, gate.permits - gate.inUse) + (gate.permits > 1 ? 1 : 0)
  const letClaim = () => {
    while (places.length > 0 && (closing.signal.aborted || mayClaim())) {
      ahead++
      places.shift()!()
    }
  }
  gate.onChange(letClaim)

  return {
    async place() {
      await new Promise<void>((resolve) => {
        places.push(resolve)
        letClaim()
      })
      let held = true
      const admitted = () => {
        if (!held) return
        held = false
        ahead--
        letClaim()
      }
      const leave = () => {
        admitted()
        for (const look of limited) look()
      }
      if (!closing.signal.aborted) return { admitted, leave }
      leave()
      return null
    },

    async next(entry, steps) {
      const tried: string[] = []
      while (!closing.signal.aborted) {
        const start = await oneByOne(() => choose(entry, tried))
        if (start === 'none') return null
        if (start === 'limited') await anotherEnds(LIMITED_MS)
        else if (start === 'blocked') await anotherEnds(BLOCKED_MS)
        else {
          const claimed = await claimWithSeat(start, entry, tried, steps)
          if (claimed) return claimed
        }
      }
      return null
    },

    isClosed: () => closing.signal.aborted,

    close() {
      closing.abort()
      letClaim()
      for (const look of limited) look()
    }
  }

  /**
   * Notes the job as being claimed. `limited`: each waiting team has as many jobs under way as it is allowed. `blocked`: a job
   * waits already for each engine that has no place; further ones would hold up those of other engines.
   */
  async function choose(
    entry: string,
    tried: readonly string[]
  ): Promise<DirectStart | 'none' | 'limited' | 'blocked'> {
    const blocked = [...new Set(engines)].filter((engine) => !gate.hasPlace({ engine }))
    const starts = await nextDirectStarts(db, entry, [...tried, ...claiming.keys()], blocked)
    if (starts.length === 0) return blocked.length > 0 ? 'blocked' : 'none'
    const open = starts
      .filter(({ teamId, claimed }) => gate.mayUse(teamId, claimed + claimingOf(teamId)))
      .map((start) => ({ start, key: start.teamId, inUse: start.claimed + claimingOf(start.teamId) }))
    const start = turns.next(open)?.start
    if (!start) return 'limited'
    claiming.set(start.jobId, start.teamId)
    turns.served(start.teamId)
    return start
  }

  /** Claims the chosen job once it has a slot, or one like it: another worker may have claimed the chosen one meanwhile. */
  async function claimWithSeat(
    chosen: DirectStart,
    entry: string,
    tried: string[],
    { hold, claim }: ClaimSteps
  ): Promise<Claimed | null> {
    let start: DirectStart | null = chosen
    let seat: HeldSeat | null = null
    let isKept = false
    try {
      seat = await waitingFor(chosen.engine, () => hold(chosen, closing.signal))
      while (start) {
        tried.push(start.jobId)
        isKept = seat !== null && (await claim(start))
        claiming.delete(start.jobId)
        if (isKept) return { start, seat: seat! }
        start = seat && (await oneByOne(() => another(chosen, entry, tried)))
      }
      return null
    } catch (error) {
      if (closing.signal.aborted) return null
      throw error
    } finally {
      if (start) claiming.delete(start.jobId)
      if (!isKept) seat?.release()
    }
  }

  async function waitingFor<Held>(engine: string | null, wait: () => Promise<Held>): Promise<Held> {
    if (engine === null) return wait()
    engines.push(engine)
    return wait().finally(() => engines.splice(engines.indexOf(engine), 1))
  }

  /** The next job of a team and an engine, noted as being claimed. */
  async function another(like: DirectStart, entry: string, tried: readonly string[]): Promise<DirectStart | null> {
    const starts = await nextDirectStarts(db, entry, [...tried, ...claiming.keys()])
    const start = starts.find(({ teamId, engine }) => teamId === like.teamId && engine === like.engine)
    if (start) claiming.set(start.jobId, start.teamId)
    return start ?? null
  }

  /** Here; an end in another worker is found after a while. */
  async function anotherEnds(milliseconds: number): Promise<void> {
    const waiting = new AbortController()
    const look = () => waiting.abort()
    limited.add(look)
    await sleep(milliseconds, undefined, { signal: waiting.signal }).catch(() => {})
    limited.delete(look)
  }

  function claimingOf(teamId: string): number {
    let count = 0
    for (const team of claiming.values()) if (team === teamId) count++
    return count
  }
}
