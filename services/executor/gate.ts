// One gate per worker process for calls to the executor, shared by both modes: as many permits as the executor has slots.
// Teams take turns, and so do the jobs of a team.
import { createActiveTeams, placesAmongTeams } from '../../domain/teams/active-teams.js'
import { createTurnLine, type Owner } from '../../domain/teams/turns.js'

/**
 * How many calls of activities wait in the line: fewer than a worker has activity slots, so that a team without a call in
 * the line always finds a slot and a place.
 */
const LINE_MAX = 160

/** Of how many jobs the faults are remembered; the oldest are forgotten first. */
const FAULTY_JOBS_MAX = 1_000

/** What a call needs of the gate. */
export interface GateEntrance {
  /** Waits for a permit; the returned function releases it. Rejects with the signal's reason. */
  enter(owner: Owner, signal: AbortSignal): Promise<() => void>
  /** Whether the line has room for another call of this team. */
  hasRoom(team: string): boolean
  /**
   * Records whether the executor has responded to a call.
   * @returns for how many milliseconds no call has had a response.
   */
  noteResponse(reached: boolean): number
  /**
   * Records that the executor failed at a call for this job.
   * @returns how many there were, those that follow each other without any call served in between counted once.
   */
  noteFault(job: string): number
}

export interface ExecutorGate extends GateEntrance {
  setPermits(permits: number): void
  /** How many permits a team can have at once. A team that is not named can have all, or all but one while others are active. */
  setTeamLimits(limits: ReadonlyMap<string, number>): void
  /** Whether a team that has this many permits, here or in all workers, can have another. */
  mayUse(team: string, inUse: number): boolean
  /** Called whenever permits or their use have changed. */
  onChange(listener: () => void): void
  readonly permits: number
  /** Permits in use. */
  readonly inUse: number
  /** Calls that wait for a permit. */
  readonly waiting: number
}

export function createExecutorGate(initialPermits: number): ExecutorGate {
  const line = createTurnLine<() => void>()
  let permits = initialPermits
  let lastReached = performance.now()
  let limits: ReadonlyMap<string, number> = new Map()
  let served = 0
  const faults = new Map<string, { count: number; served: number }>()
  const active = createActiveTeams()
  const maxOf = (team: string, alone: number) => {
    const isAlone = !active.anotherThan(team, performance.now())
    return Math.min(limits.get(team) ?? alone, isAlone ? alone : placesAmongTeams(permits))
  }

  let notify = () => {}

  const letIn = () => {
    while (line.inUse < permits) {
      const next = line.next((team) => maxOf(team, permits))
      if (!next) break
      next.work()
    }
    notify()
  }

  return {
    get permits() {
      return permits
    },
    get inUse() {
      return line.inUse
    },
    get waiting() {
      return line.waiting
    },
    hasRoom: (team) => line.hasRoom(team, LINE_MAX),
    mayUse: (team, inUse) => inUse < maxOf(team, Number.POSITIVE_INFINITY),
    onChange(listener) {
      notify = listener
    },
    noteResponse(reached) {
      if (reached) {
        lastReached = performance.now()
        served++
      }
      return performance.now() - lastReached
    },
    noteFault(job) {
      const before = faults.get(job)
      if (before?.served === served) return before.count
      faults.delete(job)
      faults.set(job, { count: (before?.count ?? 0) + 1, served })
      if (faults.size > FAULTY_JOBS_MAX) faults.delete(faults.keys().next().value!)
      return faults.get(job)!.count
    },
    setPermits(count) {
      permits = Math.max(1, count)
      letIn()
    },
    setTeamLimits(teams) {
      limits = teams
      letIn()
    },
    async enter(owner, signal) {
      signal.throwIfAborted()
      active.used(owner.team, performance.now())
      await new Promise<void>((resolve, reject) => {
        const giveUp = () => {
          line.remove(owner, admit)
          reject(signal.reason)
        }
        const admit = () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        }
        signal.addEventListener('abort', giveUp, { once: true })
        line.join(owner, admit)
        letIn()
      })
      let left = false
      return () => {
        if (left) return
        left = true
        line.leave(owner)
        letIn()
      }
    }
  }
}
