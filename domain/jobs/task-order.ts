// Which tasks of a graph may start: those whose inputs are there.

export interface TaskOrder {
  /** Tasks that may start and have not been taken, first those that the script called first. */
  readonly ready: string[]
  /** Notes that a task has completed; those that waited for it alone become ready. */
  done(key: string): void
}

/** @param waitsFor of each task, the places in `tasks` of those that it waits for. */
export function taskOrder(tasks: string[], waitsFor: number[][]): TaskOrder {
  const missing = waitsFor.map((places) => new Set(places).size)
  const followers: number[][] = tasks.map(() => [])
  waitsFor.forEach((places, place) => {
    for (const other of new Set(places)) followers[other]!.push(place)
  })
  const placeOf = new Map(tasks.map((key, place) => [key, place]))
  const ready = tasks.filter((_, place) => missing[place] === 0)
  return {
    ready,
    done(key) {
      for (const place of followers[placeOf.get(key)!]!) {
        missing[place]!--
        if (missing[place] === 0) ready.push(tasks[place]!)
      }
    }
  }
}
