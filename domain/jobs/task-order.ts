// Which tasks of a graph can start: those whose inputs exist.

/** How many tasks of one job run or wait for the executor at once: enough for every slot, with room for other jobs. */
export const TASKS_UNDER_WAY = 32

export interface TaskOrder {
  /** Tasks that can start and have not been taken, in the order in which the script called them. */
  readonly ready: string[]
  /** Records that a task has completed. Tasks that waited only for it become ready. */
  done(key: string): void
}

/** @param waitsFor for each task, the positions in `tasks` of the tasks that it waits for. */
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
