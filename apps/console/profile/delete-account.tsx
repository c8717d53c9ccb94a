// The end of an account: what it takes along, what stands in its way, and the password.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { rememberSignedIn } from '../api/patient-fetch.js'
import { sessionQuery } from '../api/queries.js'
import { Button } from '../components/button.js'
import { Field } from '../components/fields.js'
import layout from '../components/layout.module.css'
import { Loading, Refusal } from '../components/notice.js'
import { ActionForm } from '../team/parts/action-form.js'
import styles from '../team/parts/parts.module.css'
import { useAction } from '../team/parts/use-action.js'
import { whyNot } from '../team/parts/verdicts.js'
import { numbered } from '../text/exact-numbers.js'
import { shownText } from '../text/shown-text.js'
import { deletionQuery } from './profile-queries.js'

export function DeleteAccount() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { data: deletion, error } = useQuery(deletionQuery)
  const action = useAction()
  const [open, setOpen] = useState(false)
  const [password, setPassword] = useState('')
  const remove = async () => {
    const done = await action.run(() => bodyOf(api.DELETE('/api/profile', { body: { password } })))
    if (!done) return queryClient.invalidateQueries({ queryKey: deletionQuery.queryKey })
    rememberSignedIn(false)
    await navigate({ to: '/sign-in', search: {} })
    queryClient.clear()
    queryClient.setQueryData(sessionQuery.queryKey, null)
  }
  if (!deletion) return error ? <Refusal error={error} /> : <Loading />
  const { deletes, leaves, can } = deletion
  return (
    <section className={layout.section}>
      <h2>Delete the account</h2>
      <p>It cannot be undone. With the account go:</p>
      <ul className={styles.list}>
        <li>your profile, sessions and password</li>
        <li>
          {deletes.api_keys === 0
            ? 'no API key: you made none'
            : `${numbered(deletes.api_keys, 'API key')} that you made`}
        </li>
        {deletes.teams.map(({ id, name }) => (
          <li key={id}>the team {shownText(name)}, with its keys, credentials, scripts and capsules</li>
        ))}
        {leaves.teams.map(({ id, name }) => (
          <li key={id}>your membership of {shownText(name)}, which keeps its jobs</li>
        ))}
      </ul>
      {open ? (
        <ActionForm
          label="Delete the account"
          button="Delete it for good"
          action={action}
          fields={['password']}
          why={whyNot(can.delete)}
          onSubmit={() => void remove()}
          more={<Button onPress={() => setOpen(false)}>Keep it</Button>}
        >
          {(faultAt) => (
            <Field
              label="Your password, to delete the account"
              type="password"
              autoComplete="current-password"
              value={password}
              onChange={setPassword}
              fault={faultAt('password')}
              isRequired
            />
          )}
        </ActionForm>
      ) : (
        <Button kind="danger" why={whyNot(can.delete)} onPress={() => setOpen(true)}>
          Delete the account
        </Button>
      )}
    </section>
  )
}
