import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'
import { useWriteKey } from '../api/write-key.js'
import { LimitedField } from '../components/limits/limited-field.js'
import { limitsOf } from '../components/limits/limits.js'
import { Notice } from '../components/notice.js'
import { ActionForm } from '../team/parts/action-form.js'
import { useAction } from '../team/parts/use-action.js'
import { type Profile, profileQuery } from './profile-queries.js'

const fields = [
  { name: 'username', label: 'User name', help: 'the address of your public profile' },
  { name: 'display_name', label: 'Name' },
  { name: 'bio', label: 'About you', rows: 4 },
  { name: 'location', label: 'Place' },
  { name: 'website', label: 'Web page' },
  { name: 'github_username', label: 'User name at GitHub' },
  { name: 'twitter_username', label: 'User name at X' },
  { name: 'linkedin_url', label: 'Page at LinkedIn' }
] as const
type FieldName = (typeof fields)[number]['name']

export function ProfileForm({ profile }: { profile: Profile }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  /** What was typed and not saved; the other fields show what is saved. */
  const [typed, setTyped] = useState<Partial<Record<FieldName, string>>>({})
  const [isPublic, setPublic] = useState(profile.is_public)
  const [saved, setSaved] = useState(false)
  const save = async () => {
    const { username, ...others } = typed
    const body = {
      ...(username !== undefined && { username }),
      // An emptied field is none.
      ...Object.fromEntries(Object.entries(others).map(([name, value]) => [name, value === '' ? null : value])),
      is_public: isPublic
    }
    const done = await action.run(async () => {
      const changed = await withKey(body, (header) => bodyOf(api.PATCH('/api/profile', { params: { header }, body })))
      queryClient.setQueryData(profileQuery.queryKey, changed)
    })
    if (done) {
      setTyped({})
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    }
    setSaved(done)
  }
  return (
    <>
      <ActionForm
        label="Profile"
        button="Save the profile"
        action={action}
        fields={fields.map(({ name }) => name)}
        onSubmit={() => void save()}
      >
        {(faultAt) => (
          <>
            {fields.map(({ name, label, ...more }) => (
              <LimitedField
                key={name}
                label={label}
                {...more}
                limits={limitsOf('updateProfile', name)}
                value={typed[name] ?? profile[name] ?? ''}
                onChange={(value) => {
                  setTyped((known) => ({ ...known, [name]: value }))
                  setSaved(false)
                }}
                fault={faultAt(name)}
              />
            ))}
            <label>
              <input type="checkbox" checked={isPublic} onChange={({ target }) => setPublic(target.checked)} /> Show
              this profile to everyone, without your address
            </label>
          </>
        )}
      </ActionForm>
      {saved ? <Notice tone="ok">The profile is saved.</Notice> : null}
    </>
  )
}
