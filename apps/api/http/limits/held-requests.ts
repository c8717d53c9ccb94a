// How many requests of one user this process holds open: event streams, and status requests that wait. An API key counts for
// its creator, who can make a hundred of them.
export interface HeldRequests {
  /** @returns a function that frees the place; `null` when the user has no place left. */
  enter(userId: string): (() => void) | null
}

export function createHeldRequests(max: number): HeldRequests {
  const held = new Map<string, number>()
  return {
    enter(userId) {
      const count = held.get(userId) ?? 0
      if (count >= max) return null
      held.set(userId, count + 1)
      let left = false
      return () => {
        if (left) return
        left = true
        const rest = held.get(userId)! - 1
        if (rest === 0) held.delete(userId)
        else held.set(userId, rest)
      }
    }
  }
}
