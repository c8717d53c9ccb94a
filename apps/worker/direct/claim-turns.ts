// Decides when this worker claims a direct job, and which one: the next job of the team whose turn it is. An entry of the
// queue only says that there is work, so another team's job does not wait for the entries before its own.
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Db } from '../../../db/client.js'
import { type DirectStart, nextDirectStarts } from '../../../db/job-steps/direct-starts.js'
import { createTurns } from '../../../domain/teams/turns.js'
import type { ExecutorGate } from '../../../services/executor/gate.js'

/** Until the next check when every waiting team has as many jobs under way as it is allowed: another team's job may have come. */
const LIMITED_MS = 100

/** The right to one claim. */
export interface ClaimPlace {
  /** The claimed job has its permit: another job can be claimed. */
  admitted(): void
  /** The job has finished, or none was claimed. */
  leave(): void
}

export interface ClaimTurns {
  /** Waits until a job can be claimed; `null` when the worker stops instead. */
  place(): Promise<ClaimPlace | null>
  /**
   * Claims the next job.
   * @param entry the job that the entry names.
   * @param claim claims it; `false` when another worker was faster, or the job has finished.
   * @returns `null` when no job is left, or the worker stops.
   */
  next(entry: string, claim: (start: DirectStart) => Promise<boolean>): Promise<DirectStart | null>
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
  /** Claims that wait for a job of their team to finish. */
  const limited = new Set<() => void>()
  let ahead = 0

  /**
   * One job is claimed before its permit is free, so that a slot does not wait for the claim. A single slot waits: its
   * next job would be chosen before the others are known.
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

    async next(entry, claim) {
      const tried: string[] = []
      while (!closing.signal.aborted) {
        const start = await oneByOne(() => choose(entry, tried))
        if (start === 'none') return null
        if (start === 'limited') await anotherEnds()
        else {
          try {
            if (await claim(start)) return start
          } finally {
            claiming.delete(start.jobId)
          }
          tried.push(start.jobId)
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

  /** Notes the job as being claimed. `limited`: each waiting team has as many jobs under way as it is allowed. */
  async function choose(entry: string, tried: readonly string[]): Promise<DirectStart | 'none' | 'limited'> {
    const starts = await nextDirectStarts(db, entry, [...tried, ...claiming.keys()])
    if (starts.length === 0) return 'none'
    const open = starts
      .filter(({ teamId, claimed }) => gate.mayUse(teamId, claimed + claimingOf(teamId)))
      .map((start) => ({ start, key: start.teamId, inUse: start.claimed + claimingOf(start.teamId) }))
    const start = turns.next(open)?.start
    if (!start) return 'limited'
    claiming.set(start.jobId, start.teamId)
    turns.served(start.teamId)
    return start
  }

  /** Here; an end in another worker is found after a while. */
  async function anotherEnds(): Promise<void> {
    const waiting = new AbortController()
    const look = () => waiting.abort()
    limited.add(look)
    await sleep(LIMITED_MS, undefined, { signal: waiting.signal }).catch(() => {})
    limited.delete(look)
  }

  function claimingOf(teamId: string): number {
    let count = 0
    for (const team of claiming.values()) if (team === teamId) count++
    return count
  }
}
