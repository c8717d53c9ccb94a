// Turns between teams at a shared resource, and between the jobs of a team. The team that uses least of the resource is
// next; among equals, the one served longest ago. So a team's first job never waits for another team's backlog, only for
// what is running. Pure: no clock and no waiting.

/** How many keys a memory of turns keeps. A forgotten key counts as never served. */
const REMEMBERED = 10_000

export interface Turns {
  /** The candidate that is next, the first of equals; `null` when there is none. */
  next<Candidate extends { key: string; inUse: number }>(candidates: Iterable<Candidate>): Candidate | null
  served(key: string): void
}

export function createTurns(remembered = REMEMBERED): Turns {
  const turns = new Map<string, number>()
  let turn = 0
  const lastTurn = (key: string) => turns.get(key) ?? 0
  return {
    next(candidates) {
      let first = null
      for (const candidate of candidates)
        if (
          !first ||
          candidate.inUse < first.inUse ||
          (candidate.inUse === first.inUse && lastTurn(candidate.key) < lastTurn(first.key))
        )
          first = candidate
      return first
    },
    served(key) {
      // A map iterates in the order of insertion: the key that was served longest ago comes first.
      turns.delete(key)
      turns.set(key, ++turn)
      for (const oldest of turns.keys()) {
        if (turns.size <= remembered) return
        turns.delete(oldest)
      }
    }
  }
}

/** Whose work it is. */
export interface Owner {
  team: string
  /** Unlike that of any other team's job. */
  job: string
}

/** A line of work that waits for the resource, in which teams and their jobs take turns. */
export interface TurnLine<Work> {
  join(owner: Owner, work: Work): void
  /** Takes work out of the line before its turn. */
  remove(owner: Owner, work: Work): void
  /**
   * Takes the next work out of the line; its owner uses the resource until `leave`.
   * @param maxOf how much a team can use at once.
   * @param fits whether the work can begin now; otherwise other work goes before it.
   */
  next(maxOf?: (team: string) => number, fits?: (work: Work) => boolean): { owner: Owner; work: Work } | null
  leave(owner: Owner): void
  /**
   * Whether a team can join a line of this length. A team's own line is no longer than the room that is left, so there is
   * always room for a team that has nothing in the line.
   * @param alike what counts as its own line; the same holds for each kind of work then.
   */
  hasRoom(team: string, lengthMax: number, alike?: (work: Work) => boolean): boolean
  readonly waiting: number
  readonly inUse: number
}

export function createTurnLine<Work>(): TurnLine<Work> {
  const lines = new Map<string, Map<string, Work[]>>()
  const [teamTurns, jobTurns] = [createTurns(), createTurns()]
  const [teamsUse, jobsUse] = [new Map<string, number>(), new Map<string, number>()]
  let [waiting, inUse] = [0, 0]

  const byUse = (keys: Iterable<string>, use: ReadonlyMap<string, number>) =>
    [...keys].map((key) => ({ key, inUse: use.get(key) ?? 0 }))

  return {
    get waiting() {
      return waiting
    },
    get inUse() {
      return inUse
    },
    join({ team, job }, work) {
      const jobs = entry(lines, team, () => new Map<string, Work[]>())
      entry(jobs, job, () => []).push(work)
      waiting++
    },
    remove({ team, job }, work) {
      const line = lines.get(team)?.get(job)
      const at = line?.indexOf(work) ?? -1
      if (at === -1) return
      line!.splice(at, 1)
      waiting--
      forgetEmpty(team, job)
    },
    next(maxOf = () => Number.POSITIVE_INFINITY, fits = () => true) {
      const fitting = (jobs: Map<string, Work[]>) => [...jobs].filter(([, line]) => line.some(fits)).map(([job]) => job)
      const teams = byUse(lines.keys(), teamsUse).filter(
        ({ key, inUse }) => inUse < maxOf(key) && fitting(lines.get(key)!).length > 0
      )
      const team = teamTurns.next(teams)?.key
      if (team === undefined) return null
      const jobs = lines.get(team)!
      const job = jobTurns.next(byUse(fitting(jobs), jobsUse))!.key
      const line = jobs.get(job)!
      const [work] = line.splice(line.findIndex(fits), 1) as [Work]
      waiting--
      forgetEmpty(team, job)
      teamTurns.served(team)
      jobTurns.served(job)
      add(teamsUse, team, 1)
      add(jobsUse, job, 1)
      inUse++
      return { owner: { team, job }, work }
    },
    leave({ team, job }) {
      add(teamsUse, team, -1)
      add(jobsUse, job, -1)
      inUse--
    },
    hasRoom(team, lengthMax, alike = () => true) {
      const own = [...(lines.get(team)?.values() ?? [])].flat().filter(alike).length
      return own < lengthMax - waiting
    }
  }

  function forgetEmpty(team: string, job: string): void {
    const jobs = lines.get(team)!
    if (jobs.get(job)!.length === 0) jobs.delete(job)
    if (jobs.size === 0) lines.delete(team)
  }
}

function entry<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const value = map.get(key) ?? create()
  map.set(key, value)
  return value
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
