// New values for a provider. They are tested with what is stored beside them; what is saved was tested as it is.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import { Field } from '../../components/fields.js'
import { Notice } from '../../components/notice.js'
import { ActionForm } from '../parts/action-form.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { type Provider, readTeamAgain, type Secret, type TeamRecord } from '../team-queries.js'
import { helpOf, typedValues } from './credential-help.js'
import type { TestResult } from './test-outcome.js'

export function CredentialForm(props: {
  provider: Provider
  team: TeamRecord
  stored: Secret[]
  onClose: () => void
  onSaved: (tested: TestResult | null) => void
}) {
  const { provider, team, stored, onClose, onSaved } = props
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const [testing, saving] = [useAction(), useAction()]
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  /** The outcome of the last test, as long as nothing was typed since. */
  const [result, setResult] = useState<TestResult | null>(null)
  const type = (name: string) => (value: string) => {
    setTyped((known) => ({ ...known, [name]: value }))
    setResult(null)
  }
  const body = { team_id: team.id, provider: provider.provider, secrets: typedValues(typed) }
  const save = async (tested: TestResult | null) => {
    const done = await saving.run(() =>
      withKey(body, (header) => bodyOf(api.POST('/api/team/secrets', { params: { header }, body })))
    )
    await readTeamAgain(queryClient)
    if (done) onSaved(tested)
  }
  const testAndSave = async () => {
    setResult(null)
    saving.clear()
    let outcome: TestResult | null = null
    await testing.run(async () => {
      outcome = await bodyOf(api.POST('/api/team/secrets/test', { body }))
    })
    const tested = outcome as TestResult | null
    if (tested?.valid) await save(tested)
    else setResult(tested)
  }
  // What has a wrong format is refused at its field, so saving it without a test would be refused too.
  const fault = /^secrets\.(\w+): /.exec(result?.message ?? '')?.[1]
  const fields = provider.credentials.map(({ name }) => `secrets.${name}`)
  const has = new Set(stored.map(({ key_name }) => key_name))
  return (
    <ActionForm
      label={`Credentials of ${provider.name}`}
      button="Test and save"
      action={{ ...testing, error: testing.error ?? saving.error, pending: testing.pending || saving.pending }}
      fields={fields}
      why={whyNot(team.can.save_credentials)}
      onSubmit={() => void testAndSave()}
      more={
        <>
          {result && !fault ? (
            <Button isDisabled={saving.pending} onPress={() => void save(null)}>
              Save without a successful test
            </Button>
          ) : null}
          <Button onPress={onClose}>Close</Button>
          {testing.pending ? <span role="status">Asking {provider.name}…</span> : null}
        </>
      }
    >
      {(faultAt) => (
        <>
          {provider.credentials.map((field) => (
            <Field
              key={field.name}
              label={field.required ? field.name : `${field.name} (optional)`}
              type={field.secret ? 'password' : 'text'}
              autoComplete="off"
              help={helpOf(field, has.has(field.name))}
              value={typed[field.name] ?? ''}
              onChange={type(field.name)}
              fault={
                faultAt(`secrets.${field.name}`) ??
                (fault === field.name ? result!.message.slice(`secrets.${fault}: `.length) : null)
              }
            />
          ))}
          {result && !fault ? <Notice tone="warn">{result.message}. Nothing is saved yet.</Notice> : null}
        </>
      )}
    </ActionForm>
  )
}
