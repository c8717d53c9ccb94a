// The team of the page: the one that its address names, else the first that the caller joined. Every request that takes a team
// names it, because reads without one mean the first team and writes the personal one.
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { Team } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'

export interface TeamOfPage {
  /** `null`: the caller has no team yet, or does not belong to the one of the address. */
  team: Team | null
  /** For requests; `{}` for a caller without a team, who gets one with the first write. */
  teamParam: { team_id?: string }
  /** The caller does not belong to it any more. Its pages stay, with what was typed, and a press says what has changed. */
  left: boolean
  /** The address names a team that the caller did not belong to when the page was loaded. */
  unknown: boolean
}

export function useTeam(): TeamOfPage {
  const { team: id } = useSearch({ strict: false }) as { team?: string }
  const { data: session } = useQuery(sessionQuery)
  const isNamed = (known: Team) => known.id === id
  const present = (id === undefined ? session?.teams[0] : session?.teams.find(isNamed)) ?? null
  const team = present ?? session?.former.find(isNamed) ?? null
  return {
    team,
    teamParam: team ? { team_id: team.id } : {},
    left: team !== present,
    unknown: id !== undefined && team === null
  }
}
