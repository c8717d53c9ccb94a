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
  /** The address names a team that the caller does not belong to. */
  unknown: boolean
}

export function useTeam(): TeamOfPage {
  const { team: id } = useSearch({ strict: false }) as { team?: string }
  const { data: session } = useQuery(sessionQuery)
  const teams = session?.teams ?? []
  const team = (id === undefined ? teams[0] : teams.find((known) => known.id === id)) ?? null
  return { team, teamParam: team ? { team_id: team.id } : {}, unknown: id !== undefined && team === null }
}
