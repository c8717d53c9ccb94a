// Shares of places that teams hold without waiting, such as the slots for calls to providers. A team takes no more than what
// is left free, so there is always a place for a team that has none.

export interface Shares {
  /** Whether the team gets a place; if so, it keeps the place until `leave`. */
  enter(team: string): boolean
  leave(team: string): void
}

export function createShares(places: number): Shares {
  const held = new Map<string, number>()
  let taken = 0
  return {
    enter(team) {
      const own = held.get(team) ?? 0
      if (own >= places - taken) return false
      held.set(team, own + 1)
      taken++
      return true
    },
    leave(team) {
      const own = held.get(team)! - 1
      if (own === 0) held.delete(team)
      else held.set(team, own)
      taken--
    }
  }
}
