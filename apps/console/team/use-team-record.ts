import { useQuery } from '@tanstack/react-query'
import { useTeam } from '../shell/team.js'
import { type TeamRecord, teamsQuery } from './team-queries.js'

/** The team of the page with what the caller may do; `undefined` while it is read. */
export function useTeamRecord(): { id: string; record: TeamRecord | undefined; error: unknown } {
  const { team } = useTeam()
  const { data, error } = useQuery(teamsQuery)
  // The layout shows no page without a team.
  const id = team?.id ?? ''
  return { id, record: data?.find((one) => one.id === id), error }
}
