import { useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { Team } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'
import { Choice } from '../components/fields.js'
import { Empty } from '../components/notice.js'
import { useTeam } from './team.js'

/** Choosing a team changes the address; the page then reads anew. */
export function TeamChoice({ teams }: { teams: readonly Team[] }) {
  const navigate = useNavigate()
  const { team, left } = useTeam()
  const { pathname } = useLocation()
  if (teams.length === 0) return null
  const options = teams.map(({ id, name, suspended }) => ({
    value: id,
    text: suspended ? `${name} (suspended)` : name
  }))
  const isListed = team !== null && !left
  const none = { value: '', text: 'Choose a team' }
  return (
    <Choice
      label="Team"
      value={isListed ? team.id : ''}
      options={isListed ? options : [none, ...options]}
      // The pages of a team stay, with the chosen one; other pages may show what the team does not have.
      onChange={(id) => void navigate({ to: pathname.startsWith('/team/') ? pathname : '/jobs', search: { team: id } })}
    />
  )
}

export function UnknownTeam() {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Empty title="You do not belong to the team of this address">
      <TeamChoice teams={session?.teams ?? []} />
    </Empty>
  )
}
