// One gate per worker process for calls to the executors, shared by both modes: as many permits as they have slots. Teams take
// turns, and so do the jobs of a team. A call is let in when an executor that can do it has a place.
import type { ExecutorNeeds } from '../../domain/backends/executor-choice.js'
import { createActiveTeams, placesAmongTeams } from '../../domain/teams/active-teams.js'
import { createTurnLine, type Owner } from '../../domain/teams/turns.js'
import type { Reserved } from './client.js'
import type { Endpoint, Endpoints, Place } from './endpoints.js'
import type { Away, Busy, Refusal } from './stream.js'

/** How many activities a worker has under way, without those at a provider. */
export const ACTIVITY_SLOTS = 200

/**
 * How many calls of activities wait in the line: with those that hold a permit, fewer than a worker has activity slots, so
 * that a team without a call in the line always finds a slot and a place.
 */
const lineMax = (permits: number) => Math.min(160, Math.max(40, ACTIVITY_SLOTS - permits))

/** Of how many jobs the faults are remembered; the oldest are forgotten first. */
const FAULTY_JOBS_MAX = 1_000

/** How long a call waits at an executor for a slot, and how long where another executor may have one. */
const WAIT_SECONDS = 10
const WAIT_BEFORE_NEXT_SECONDS = 2

/** Whose call it is, and what it needs. */
export interface GateCall extends Owner, ExecutorNeeds {
  /** The parked execution that it continues. */
  resume?: string
}

/** A permit of the gate, with a place at one executor. */
export interface Seat {
  /** Waits for a slot of the executor that the place is at. Rejects with the signal's reason. */
  reserve(signal: AbortSignal): Promise<Reserved | Refusal>
  /**
   * Records that this executor has refused the call. `moved`: the seat is now at another one. `full`: others that have not
   * refused it have no place. `none`: there is no other.
   */
  moveOn(refusal: Busy | Away): 'moved' | 'full' | 'none'
  /** Begins anew with executors that have refused the call. */
  again(): void
  leave(): void
}

/** What a call needs of the gate. */
export interface GateEntrance {
  /** Waits for a seat. Rejects with the signal's reason. @returns why no executor can take such a call now. */
  enter(call: GateCall, signal: AbortSignal): Promise<Seat | Away>
  /** Whether the line has room for another call of this team that needs the same. */
  hasRoom(call: GateCall): boolean
  /**
   * Records whether an executor has responded to a call.
   * @returns for how many milliseconds no call for this engine has had a response.
   */
  noteResponse(reached: boolean, needs: ExecutorNeeds): number
  /**
   * Records that the executors failed at a call for this job.
   * @returns how many there were, those that follow each other without any call served in between counted once.
   */
  noteFault(job: string): number
}

export interface ExecutorGate extends GateEntrance {
  /** How many permits a team can have at once. A team that is not named can have all, or all but one while others are active. */
  setTeamLimits(limits: ReadonlyMap<string, number>): void
  /** Whether a team that has this many permits, here or in all workers, can have another. */
  mayUse(team: string, inUse: number): boolean
  /** Whether an executor that can do it has a place. */
  hasPlace(needs: ExecutorNeeds): boolean
  /** Called whenever permits or their use have changed. */
  onChange(listener: () => void): void
  readonly permits: number
  /** Permits in use. */
  readonly inUse: number
  /** Calls that wait for a permit. */
  readonly waiting: number
}

interface Waiting {
  call: GateCall
  admit: (place: Place | null) => void
}

export function createExecutorGate(endpoints: Endpoints): ExecutorGate {
  const line = createTurnLine<Waiting>()
  const started = performance.now()
  /** By engine. */
  const lastReached = new Map<string, number>()
  let limits: ReadonlyMap<string, number> = new Map()
  let served = 0
  const faults = new Map<string, { count: number; served: number }>()
  const active = createActiveTeams()
  const maxOf = (team: string, alone: number) => {
    const isAlone = !active.anotherThan(team, performance.now())
    return Math.min(limits.get(team) ?? alone, isAlone ? alone : placesAmongTeams(endpoints.permits))
  }

  let notify = () => {}

  const letIn = () => {
    while (line.waiting > 0) {
      const next = line.next(
        (team) => maxOf(team, Number.POSITIVE_INFINITY),
        ({ call }) => endpoints.fits(call) !== 'full'
      )
      if (!next) break
      const place = endpoints.take(next.work.call)
      if (typeof place === 'string') {
        line.leave(next.owner)
        next.work.admit(null)
      } else next.work.admit(place)
    }
    notify()
  }
  endpoints.onChange(letIn)

  function seatAt(first: Place, call: GateCall): Seat {
    let place = first
    let left = false
    const refusedBy = new Set<Endpoint>()
    const moveTo = (next: Place | 'full' | 'none') => {
      if (typeof next === 'string') return next
      const before = place
      place = next
      before.leave()
      return 'moved'
    }
    return {
      reserve(signal) {
        const { team, engine, resume } = call
        const hasOther = endpoints.hasOther(call, place.endpoint)
        return place.endpoint.client.reserve(
          {
            keys: { team },
            ...(engine !== undefined && { engine }),
            ...(resume !== undefined && { resume }),
            wait_seconds: hasOther ? WAIT_BEFORE_NEXT_SECONDS : WAIT_SECONDS
          },
          signal
        )
      },
      moveOn(refusal) {
        refusedBy.add(place.endpoint)
        endpoints.refused(place.endpoint, refusal, call)
        return moveTo(endpoints.take(call, refusedBy))
      },
      again() {
        refusedBy.clear()
        moveTo(endpoints.take(call))
      },
      leave() {
        if (left) return
        left = true
        line.leave({ team: call.team, job: call.job })
        place.leave()
      }
    }
  }

  return {
    get permits() {
      return endpoints.permits
    },
    get inUse() {
      return line.inUse
    },
    get waiting() {
      return line.waiting
    },
    hasRoom: ({ team, engine }) => line.hasRoom(team, lineMax(endpoints.permits), ({ call }) => call.engine === engine),
    hasPlace: (needs) => endpoints.fits(needs) === 'free',
    mayUse: (team, inUse) => inUse < maxOf(team, Number.POSITIVE_INFINITY),
    onChange(listener) {
      notify = listener
    },
    noteResponse(reached, { engine = '' }) {
      if (reached) {
        lastReached.set(engine, performance.now())
        served++
      }
      return performance.now() - (lastReached.get(engine) ?? started)
    },
    noteFault(job) {
      const before = faults.get(job)
      if (before?.served === served) return before.count
      faults.delete(job)
      faults.set(job, { count: (before?.count ?? 0) + 1, served })
      if (faults.size > FAULTY_JOBS_MAX) faults.delete(faults.keys().next().value!)
      return faults.get(job)!.count
    },
    setTeamLimits(teams) {
      limits = teams
      letIn()
    },
    async enter(call, signal) {
      signal.throwIfAborted()
      active.used(call.team, performance.now())
      const place = await new Promise<Place | null>((resolve, reject) => {
        const waiting: Waiting = {
          call,
          admit(place) {
            signal.removeEventListener('abort', giveUp)
            resolve(place)
          }
        }
        const giveUp = () => {
          line.remove(call, waiting)
          reject(signal.reason)
        }
        signal.addEventListener('abort', giveUp, { once: true })
        line.join(call, waiting)
        letIn()
      })
      return place ? seatAt(place, call) : endpoints.absence(call)
    }
  }
}
