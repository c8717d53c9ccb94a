import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/queries.js'

/** Whose budget the job takes. @param teamId `undefined` for a caller who has no team yet. */
export function ChargedTeam({ teamId }: { teamId: string | undefined }) {
  const { data: session } = useQuery(sessionQuery)
  if (teamId === undefined) return <p>Charged to a team of your own, which this first job makes.</p>
  const team = [...(session?.teams ?? []), ...(session?.former ?? [])].find(({ id }) => id === teamId)
  return (
    <p>
      Charged to the team <strong>{team?.name ?? teamId}</strong>.
    </p>
  )
}
