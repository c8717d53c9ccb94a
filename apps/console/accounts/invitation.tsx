// Behind the link of an invitation: sign in or sign up with the invited address, and join.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'
import { useWriteKey } from '../api/write-key.js'
import { Button } from '../components/button.js'
import { Loading, Refusal } from '../components/notice.js'
import { AccountForm, EmailField, NameField, NewPasswordField, PasswordField } from './account-form.js'
import { AccountPage } from './account-page.js'
import { useEnter } from './enter.js'

const route = getRouteApi('/invitations/$token')

export function InvitationPage() {
  const { token } = route.useParams()
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/invitations/{token}', { params: { path: { token } }, signal }))
  })
  const session = useQuery(sessionQuery)
  if (preview.isPending || session.isPending)
    return (
      <AccountPage title="Join a team">
        <Loading />
      </AccountPage>
    )
  if (!preview.data)
    return (
      <AccountPage title="Join a team">
        <Refusal error={preview.error} />
      </AccountPage>
    )
  const { team, role, email } = preview.data
  const signedIn = session.data?.user.email.toLowerCase() === email.toLowerCase()
  return (
    <AccountPage title={`Join the team ${team.name}`}>
      <p>
        {email} is invited to be {role === 'admin' ? 'an admin' : 'a member'} of it.
      </p>
      <JoinForm token={token} email={email} teamId={team.id} signedIn={signedIn} />
    </AccountPage>
  )
}

function JoinForm(props: { token: string; email: string; teamId: string; signedIn: boolean }) {
  const { token, email, teamId, signedIn } = props
  const enter = useEnter()
  const withKey = useWriteKey()
  const [hasAccount, setHasAccount] = useState(false)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')

  const accept = () =>
    withKey({ token }, (header) =>
      bodyOf(api.POST('/api/invitations/{token}/accept', { params: { path: { token }, header } }))
    )
  const send = async () => {
    if (signedIn) await accept()
    else if (hasAccount) {
      await bodyOf(api.POST('/api/auth/sign-in', { body: { email, password } }))
      await accept()
    } else {
      const body = { email, password, invitation_token: token, ...(name && { display_name: name }) }
      await bodyOf(api.POST('/api/auth/sign-up', { body }))
    }
    await enter(`/jobs?team=${teamId}`)
  }

  if (signedIn) return <AccountForm button="Join" send={send} />
  return (
    <>
      <AccountForm
        button={hasAccount ? 'Sign in and join' : 'Create the account and join'}
        send={send}
        fields={['display_name', 'password']}
      >
        {(faultAt) => (
          <>
            <EmailField value={email} onChange={() => {}} isReadOnly />
            {hasAccount ? (
              <PasswordField value={password} onChange={setPassword} fault={faultAt('password')} />
            ) : (
              <>
                <NameField value={name} onChange={setName} fault={faultAt('display_name')} />
                <NewPasswordField
                  operation="signUp"
                  value={password}
                  onChange={setPassword}
                  fault={faultAt('password')}
                />
              </>
            )}
          </>
        )}
      </AccountForm>
      <p>
        <Button onPress={() => setHasAccount(!hasAccount)}>
          {hasAccount ? 'I have no account yet' : 'I have an account'}
        </Button>
      </p>
    </>
  )
}
