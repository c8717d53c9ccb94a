import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { Notice } from '../components/notice.js'
import { AccountForm, NewPasswordField } from './account-form.js'
import { AccountPage } from './account-page.js'

const route = getRouteApi('/reset-password/$token')

/** Behind the link of a mail; the token is sent with the new password and nowhere else. */
export function ResetPasswordPage() {
  const { token } = route.useParams()
  const [password, setPassword] = useState('')
  const [done, setDone] = useState(false)
  const send = async () => {
    await bodyOf(api.POST('/api/auth/reset-password', { body: { token, password } }))
    setDone(true)
  }
  return (
    <AccountPage title="Set a new password">
      {done ? (
        <Notice tone="ok">
          Your password is set, and every session has ended. <Link to="/sign-in">Sign in</Link>
        </Notice>
      ) : (
        <AccountForm button="Set the password" send={send} fields={['password']}>
          {(faultAt) => (
            <NewPasswordField
              operation="resetPassword"
              value={password}
              onChange={setPassword}
              fault={faultAt('password')}
            />
          )}
        </AccountForm>
      )}
    </AccountPage>
  )
}
