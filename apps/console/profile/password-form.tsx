import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'
import { Field } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { limitsOf, limitText } from '../components/limits/limits.js'
import { Notice } from '../components/notice.js'
import { ActionForm } from '../team/parts/action-form.js'
import { useAction } from '../team/parts/use-action.js'
import { sessionsQuery } from './profile-queries.js'

export function PasswordForm() {
  const queryClient = useQueryClient()
  const { data: session } = useQuery(sessionQuery)
  const action = useAction()
  const [password, setPassword] = useState('')
  const [next, setNext] = useState('')
  const [saved, setSaved] = useState(false)
  const change = async () => {
    const body = { password, new_password: next }
    const done = await action.run(() => bodyOf(api.POST('/api/auth/change-password', { body })))
    if (done) {
      setPassword('')
      setNext('')
      await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    }
    setSaved(done)
  }
  return (
    <section className={layout.section}>
      <h2>Password</h2>
      <ActionForm
        label="Password"
        button="Change the password"
        action={action}
        fields={['password', 'new_password']}
        onSubmit={() => void change()}
      >
        {(faultAt) => (
          <>
            <input type="email" autoComplete="username" value={session?.user.email ?? ''} readOnly hidden />
            <Field
              label="Present password"
              type="password"
              autoComplete="current-password"
              help={
                <>
                  An account that was made by single sign-on has none:{' '}
                  <Link to="/forgot-password">ask for a first one</Link>
                </>
              }
              value={password}
              onChange={setPassword}
              fault={faultAt('password')}
              isRequired
            />
            <Field
              label="New password"
              type="password"
              autoComplete="new-password"
              help={limitText(limitsOf('changePassword', 'new_password'))}
              value={next}
              onChange={setNext}
              fault={faultAt('new_password')}
              isRequired
            />
          </>
        )}
      </ActionForm>
      {saved ? <Notice tone="ok">The password is changed, and every other session has ended.</Notice> : null}
    </section>
  )
}
