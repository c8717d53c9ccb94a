import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTeam } from '../shell/team.js'
import { type TeamRecord, teamsQuery } from './team-queries.js'

/**
 * The team of the page with what the caller may do; `undefined` while it is read. For a person who has been removed it is
 * what was read last: the forms of the page stay, with what was typed, and a press says what has changed.
 */
export function useTeamRecord(): { id: string; record: TeamRecord | undefined; error: unknown } {
  const { team } = useTeam()
  const { data, error } = useQuery(teamsQuery)
  // The layout shows no page without a team.
  const id = team?.id ?? ''
  const found = data?.find((one) => one.id === id)
  const [last, setLast] = useState(found)
  if (found && found !== last) setLast(found)
  return { id, record: found ?? (last?.id === id ? last : undefined), error }
}
