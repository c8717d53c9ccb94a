// Keeps a place of a shared resource free of the team that already uses it, while several teams use it: a turn is never taken
// back, so a team with long work on every place would keep all others waiting for its end. Pure: times are parameters.

/** How long a team counts as active after its latest use, in milliseconds. */
export const ACTIVE_MS = 15 * 60_000

/** How many of the places one team can use at once while another is active. */
export const placesAmongTeams = (places: number): number => Math.max(1, places - 1)

export interface ActiveTeams {
  /** @param at in milliseconds, from any start; never earlier than in the call before. */
  used(team: string, at: number): void
  /** Whether a team other than this one is active. */
  anotherThan(team: string, at: number): boolean
}

export function createActiveTeams(activeMs = ACTIVE_MS): ActiveTeams {
  let latest: { team: string; at: number } | null = null
  /** The latest use by a team other than that of `latest`. */
  let before: { team: string; at: number } | null = null
  return {
    used(team, at) {
      if (latest && latest.team !== team) before = latest
      latest = { team, at }
    },
    anotherThan(team, at) {
      const other = latest?.team === team ? before : latest
      return other !== null && at - other.at < activeMs
    }
  }
}
