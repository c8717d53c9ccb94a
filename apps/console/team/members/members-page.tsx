// Who belongs to the team, with which role; and what can be done with the team itself.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { sessionQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { shownText } from '../../text/shown-text.js'
import { ConfirmButton } from '../parts/confirm.js'
import { useAction } from '../parts/use-action.js'
import { commonRefusal, whyNot } from '../parts/verdicts.js'
import { type Member, membersQuery, readTeamAgain } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'
import { TeamSettings } from './team-settings.js'

/** Each row has fields and buttons, and a team can have a thousand members. */
const SHOWN_FIRST = 100

export function MembersPage() {
  usePageTitle('Members')
  const { id, record } = useTeamRecord()
  const { data: members, error } = useQuery(membersQuery(id))
  const { data: session } = useQuery(sessionQuery)
  return (
    <>
      <section className={layout.section}>
        <h2>Members</h2>
        {members ? <MemberTable teamId={id} members={members} me={session?.user.id} /> : null}
        {members ? null : error ? <Refusal error={error} /> : <Loading />}
      </section>
      {record ? <TeamSettings team={record} members={members ?? []} /> : null}
    </>
  )
}

function MemberTable({ teamId, members, me }: { teamId: string; members: Member[]; me: string | undefined }) {
  // Said once above the table where the same words would stand in each row.
  const locked = commonRefusal(members.map(({ can }) => can.make_owner))
  const managed = members.some(({ can }) => can.remove === true || can.change_role === true)
  const reason = managed ? null : commonRefusal(members.map(({ can }) => can.remove))
  const [shown, setShown] = useState(SHOWN_FIRST)
  const heads = ['Name', 'Email', 'Role', 'Joined', ...(reason === null ? ['Actions'] : [])]
  return (
    <>
      {reason === null ? null : <Notice>{reason}: roles can be read only.</Notice>}
      {reason !== null || locked === null ? null : <Notice>{locked}: the owner stays as it is.</Notice>}
      <Table label="Members" heads={heads}>
        {members.slice(0, shown).map((member) => (
          <tr key={member.user_id}>
            <Wide>
              {shownText(member.name)}
              {member.user_id === me ? ' (you)' : ''}
            </Wide>
            <Wide>{shownText(member.email)}</Wide>
            <td>
              <Role teamId={teamId} member={member} />
            </td>
            <td>
              <Time at={member.joined_at} />
            </td>
            {reason === null ? (
              <td>
                <MemberActions
                  teamId={teamId}
                  member={member}
                  isMe={member.user_id === me}
                  transferable={locked === null}
                />
              </td>
            ) : null}
          </tr>
        ))}
      </Table>
      {members.length > shown ? (
        <div className={layout.bar}>
          <Button onPress={() => setShown(shown + SHOWN_FIRST)}>Show more</Button>
          <span>
            {shown} of {members.length} members
          </span>
        </div>
      ) : null}
    </>
  )
}

function Role({ teamId, member }: { teamId: string; member: Member }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  if (member.can.change_role !== true) return <>{member.role}</>
  const path = { userId: member.user_id }
  const change = async (role: string) => {
    const body = { team_id: teamId, role: role as 'admin' | 'member' }
    await action.run(() =>
      withKey(body, (header) => bodyOf(api.PATCH('/api/team/members/{userId}', { params: { path, header }, body })))
    )
    await readTeamAgain(queryClient)
  }
  const options = ['admin', 'member'].map((value) => ({ value, text: value }))
  return (
    <>
      <Choice
        label={`Role of ${shownText(member.name)}`}
        labelUnseen
        value={member.role}
        options={options}
        onChange={(role) => void change(role)}
      />
      <Refusal error={action.error} />
    </>
  )
}

function MemberActions(props: { teamId: string; member: Member; isMe: boolean; transferable: boolean }) {
  const { teamId, member, isMe, transferable } = props
  const queryClient = useQueryClient()
  const [removeKey, transferKey] = [useWriteKey(), useWriteKey()]
  const name = shownText(member.name)
  const again = () => readTeamAgain(queryClient)
  const remove = async () => {
    const body = { team_id: teamId }
    const path = { userId: member.user_id }
    await removeKey(path, (header) =>
      bodyOf(api.DELETE('/api/team/members/{userId}', { params: { path, header }, body }))
    )
    await again()
  }
  const transfer = async () => {
    const body = { user_id: member.user_id }
    const path = { id: teamId }
    await transferKey(body, (header) =>
      bodyOf(api.POST('/api/teams/{id}/transfer', { params: { path, header }, body }))
    )
    await again()
  }
  return (
    <div className={layout.bar}>
      <ConfirmButton
        text="Remove"
        title={`Remove ${name}`}
        why={whyNot(member.can.remove)}
        act={remove}
        onRefused={again}
      >
        <p>
          {name} leaves the team at once, and the API keys that they made for it stop working. Their jobs, scripts and
          capsules stay with the team.
        </p>
      </ConfirmButton>
      {isMe || !transferable ? null : (
        <ConfirmButton
          text="Make owner"
          title={`Make ${name} the owner`}
          why={whyNot(member.can.make_owner)}
          act={transfer}
          onRefused={again}
        >
          <p>The team then belongs to {name}, and you become an admin of it. Only the new owner can give it back.</p>
        </ConfirmButton>
      )}
    </div>
  )
}
