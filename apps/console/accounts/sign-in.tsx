import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { metaQuery } from '../api/queries.js'
import { AccountForm, EmailField, PasswordField } from './account-form.js'
import { AccountPage } from './account-page.js'
import styles from './account-page.module.css'
import { useEnter } from './enter.js'
import { ProviderLink } from './provider-link.js'

const route = getRouteApi('/sign-in')

export function SignInPage() {
  const { return_to } = route.useSearch()
  const enter = useEnter()
  const meta = useQuery(metaQuery)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const send = async () => {
    await bodyOf(api.POST('/api/auth/sign-in', { body: { email, password } }))
    await enter(return_to)
  }
  return (
    <AccountPage title="Sign in">
      <AccountForm button="Sign in" send={send} fields={['email', 'password']}>
        {(faultAt) => (
          <>
            <EmailField value={email} onChange={setEmail} fault={faultAt('email')} />
            <PasswordField value={password} onChange={setPassword} fault={faultAt('password')} />
          </>
        )}
      </AccountForm>
      <ProviderLink returnTo={return_to} />
      <p className={styles.links}>
        <Link to="/sign-up">Create an account</Link>
        {meta.data?.features.mail === false ? null : <Link to="/forgot-password">Forgot the password?</Link>}
      </p>
    </AccountPage>
  )
}
