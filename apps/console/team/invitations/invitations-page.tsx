// People who were invited and have not joined yet.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { metaQuery } from '../../api/queries.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf } from '../../components/limits/limits.js'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { shownText } from '../../text/shown-text.js'
import { ActionForm } from '../parts/action-form.js'
import { ConfirmButton } from '../parts/confirm.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { type Invitation, invitationsQuery, readTeamAgain, type TeamRecord } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'

type Role = Invitation['role']
const roles = (['member', 'admin'] as const).map((value) => ({ value, text: value }))

export function InvitationsPage() {
  usePageTitle('Invitations')
  const { id, record } = useTeamRecord()
  const { data: invitations, error } = useQuery(invitationsQuery(id))
  const { data: meta } = useQuery(metaQuery)
  const mails = meta?.features.mail !== false
  return (
    <>
      {mails ? null : (
        <Notice tone="warn">
          This service sends no mail, so invitations are recorded and not delivered. The operator sets SMTP_URL or
          MAIL_DIR; send the invitation again after that.
        </Notice>
      )}
      {record ? <Invite team={record} mails={mails} /> : null}
      <section className={layout.section}>
        <h2>Pending</h2>
        {invitations?.length === 0 ? <p>No invitation is pending.</p> : null}
        {invitations && invitations.length > 0 ? (
          <Table label="Pending invitations" heads={['Email', 'Role', 'Message', 'Valid until', 'Actions']}>
            {invitations.map((invitation) => (
              <Row key={invitation.id} invitation={invitation} />
            ))}
          </Table>
        ) : null}
        {invitations ? null : error ? <Refusal error={error} /> : <Loading />}
      </section>
    </>
  )
}

function Invite({ team, mails }: { team: TeamRecord; mails: boolean }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [message, setMessage] = useState('')
  const [sent, setSent] = useState<string | null>(null)
  const invite = async () => {
    setSent(null)
    const body = { team_id: team.id, email, role, ...(message && { message }) }
    const done = await action.run(() =>
      withKey(body, (header) => bodyOf(api.POST('/api/team/invitations', { params: { header }, body })))
    )
    if (done) {
      setSent(email)
      setEmail('')
      setMessage('')
    }
    await readTeamAgain(queryClient)
  }
  return (
    <section className={layout.section}>
      <h2>Invite a person</h2>
      <ActionForm
        label="Invite a person"
        button="Send the invitation"
        action={action}
        fields={['email', 'role', 'message']}
        why={whyNot(team.can.invite)}
        onSubmit={() => void invite()}
      >
        {(faultAt) => (
          <>
            <LimitedField
              label="Email"
              type="email"
              autoComplete="off"
              limits={limitsOf('createInvitation', 'email')}
              value={email}
              onChange={setEmail}
              fault={faultAt('email')}
              isRequired
            />
            <Choice label="Role" value={role} options={roles} onChange={(value) => setRole(value as Role)} />
            <LimitedField
              label="Message (optional)"
              rows={3}
              limits={limitsOf('createInvitation', 'message')}
              help="Quoted only in mails to people who have an account and have proved their address"
              value={message}
              onChange={setMessage}
              fault={faultAt('message')}
            />
          </>
        )}
      </ActionForm>
      {sent === null ? null : (
        <Notice tone={mails ? 'ok' : 'warn'}>
          {mails
            ? `The invitation to ${shownText(sent)} is on its way.`
            : `${shownText(sent)} is invited, but no mail is sent.`}
        </Notice>
      )}
    </section>
  )
}

function Row({ invitation }: { invitation: Invitation }) {
  const queryClient = useQueryClient()
  const [changeKey, cancelKey] = [useWriteKey(), useWriteKey()]
  const action = useAction()
  const [sent, setSent] = useState(false)
  const { id, can } = invitation
  const path = { id }
  const email = shownText(invitation.email)
  const again = () => readTeamAgain(queryClient)
  const change = async (body: { action: 'resend' } | { role: Role }) => {
    const done = await action.run(() =>
      changeKey(body, (header) => bodyOf(api.PATCH('/api/team/invitations/{id}', { params: { path, header }, body })))
    )
    setSent(done && 'action' in body)
    await again()
  }
  const cancel = async () => {
    await cancelKey(path, (header) => bodyOf(api.DELETE('/api/team/invitations/{id}', { params: { path, header } })))
    await again()
  }
  return (
    <tr>
      <Wide>{email}</Wide>
      <td>
        {can.change_role === true ? (
          <Choice
            label={`Role of ${email}`}
            labelUnseen
            value={invitation.role}
            options={roles}
            onChange={(role) => void change({ role: role as Role })}
          />
        ) : (
          invitation.role
        )}
      </td>
      <Wide>{invitation.message === null ? '–' : shownText(invitation.message)}</Wide>
      <td>
        <Time at={invitation.expires_at} />
      </td>
      <td>
        <div className={layout.bar}>
          <Button
            why={whyNot(can.resend)}
            isDisabled={action.pending}
            onPress={() => void change({ action: 'resend' })}
          >
            Send again
          </Button>
          <ConfirmButton
            text="Cancel"
            title={`Cancel the invitation of ${email}`}
            why={whyNot(can.cancel)}
            act={cancel}
            onRefused={again}
          >
            <p>The link of its mail stops working.</p>
          </ConfirmButton>
        </div>
        {sent ? <p role="status">A new link is on its way; the old one has stopped working.</p> : null}
        <Refusal error={action.error} />
      </td>
    </tr>
  )
}
