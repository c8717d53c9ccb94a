import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Loading, Refusal } from '../components/notice.js'
import { Table, Wide } from '../components/table.js'
import { Time } from '../components/text.js'
import { useAction } from '../team/parts/use-action.js'
import { shownText } from '../text/shown-text.js'
import { type Session, sessionsQuery } from './profile-queries.js'

export function Sessions() {
  const { data: sessions, error } = useQuery(sessionsQuery)
  return (
    <section className={layout.section}>
      <h2>Sessions</h2>
      {sessions ? (
        <Table label="Sessions" heads={['Browser', 'Since', 'Last seen', 'Actions']}>
          {sessions.map((session) => (
            <Row key={session.id} session={session} />
          ))}
        </Table>
      ) : error ? (
        <Refusal error={error} />
      ) : (
        <Loading />
      )}
    </section>
  )
}

function Row({ session }: { session: Session }) {
  const queryClient = useQueryClient()
  const action = useAction()
  const path = { id: session.id }
  const end = async () => {
    await action.run(() => bodyOf(api.DELETE('/api/auth/sessions/{id}', { params: { path } })))
    await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
  }
  return (
    <tr>
      <Wide>{session.user_agent === null ? 'not known' : shownText(session.user_agent)}</Wide>
      <td>
        <Time at={session.created_at} />
      </td>
      <td>
        <Time at={session.last_seen_at} />
      </td>
      <td>
        {session.current ? (
          'this one: sign out under Account'
        ) : (
          <Button isDisabled={action.pending} onPress={() => void end()}>
            End
          </Button>
        )}
        <Refusal error={action.error} />
      </td>
    </tr>
  )
}
