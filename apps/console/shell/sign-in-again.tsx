// A session can end while its owner types. The page stays as it is, the password is asked for above it, and the requests that
// were refused are then sent again.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useState } from 'react'
import { api, bodyOf, type User } from '../api/client.js'
import { rememberSignedIn } from '../api/patient-fetch.js'
import { metaQuery, sessionQuery } from '../api/queries.js'
import { useServiceState } from '../api/service-state.js'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import { Modal } from '../components/modal.js'
import { Refusal } from '../components/notice.js'
import styles from './shell.module.css'

export function SignInAgain({ user }: { user: User }) {
  const { sessionEnded } = useServiceState()
  return sessionEnded ? <PasswordDialog user={user} /> : null
}

function PasswordDialog({ user }: { user: User }) {
  const queryClient = useQueryClient()
  const meta = useQuery(metaQuery)
  const [password, setPassword] = useState('')
  const resume = () => {
    rememberSignedIn(true)
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  const signIn = useMutation({
    mutationFn: () => bodyOf(api.POST('/api/auth/sign-in', { body: { email: user.email, password } })),
    onSuccess: resume
  })
  useSessionElsewhere(user, resume)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  return (
    <Modal title="Your session has ended">
      <p>Sign in again to continue. What you have typed is still there.</p>
      <form className={styles.form} onSubmit={submit}>
        <input type="email" name="email" autoComplete="username" value={user.email} readOnly hidden />
        <Field
          label={`Password of ${user.email}`}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          isRequired
          autoFocus
        />
        <Refusal error={signIn.error} />
        <Button kind="main" type="submit" isDisabled={signIn.isPending}>
          Sign in
        </Button>
      </form>
      {meta.data?.features.sign_in.includes('oidc') ? (
        <p>
          <a href="/api/auth/oidc/start" target="_blank" rel="noreferrer">
            Sign in with the identity provider in a new tab
          </a>
          , and come back to this one.
        </p>
      ) : null}
      <p>
        <a href="/sign-in">Sign in with another account</a> (leaves this page)
      </p>
    </Modal>
  )
}

/** Notices that the same person has signed in again in another tab. */
function useSessionElsewhere({ id }: User, resume: () => void): void {
  useEffect(() => {
    const look = async () => {
      if (document.visibilityState !== 'visible') return
      const { data } = await api.GET('/api/auth/session').catch(() => ({ data: undefined }))
      if (data?.user.id === id) resume()
    }
    document.addEventListener('visibilitychange', look)
    window.addEventListener('focus', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      window.removeEventListener('focus', look)
    }
  })
}
