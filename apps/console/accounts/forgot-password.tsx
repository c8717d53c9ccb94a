import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { Notice } from '../components/notice.js'
import { AccountForm, EmailField } from './account-form.js'
import { AccountPage } from './account-page.js'

export function ForgotPasswordPage() {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string | null>(null)
  const send = async () => {
    await bodyOf(api.POST('/api/auth/forgot-password', { body: { email } }))
    setSentTo(email)
  }
  return (
    <AccountPage title="Forgot the password">
      {sentTo === null ? (
        <AccountForm button="Send the mail" send={send} fields={['email']}>
          {(faultAt) => <EmailField value={email} onChange={setEmail} fault={faultAt('email')} />}
        </AccountForm>
      ) : (
        <Notice tone="ok">If {sentTo} has an account, a mail with a link is on its way.</Notice>
      )}
      <p>
        <Link to="/sign-in">Back to signing in</Link>
      </p>
    </AccountPage>
  )
}
