// Credentials of providers: which each provider takes, which the team has, and new values, tested before they are saved.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Button } from '../../components/button.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { ConfirmButton } from '../parts/confirm.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import {
  type Provider,
  providersQuery,
  readTeamAgain,
  type Secret,
  secretsQuery,
  type TeamRecord
} from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'
import { CredentialForm } from './credential-form.js'
import { TestOutcome, type TestResult } from './test-outcome.js'

export function CredentialsPage() {
  usePageTitle('Credentials')
  const { id, record } = useTeamRecord()
  const providers = useQuery(providersQuery)
  const secrets = useQuery(secretsQuery(id))
  const error = providers.error ?? secrets.error
  if (!providers.data || !secrets.data || !record) return error ? <Refusal error={error} /> : <Loading />
  return (
    <>
      <p className={layout.quiet}>
        Jobs at a provider run with the team's own credentials. A value that is saved can be replaced and deleted, and
        is never shown again.
      </p>
      {providers.data.map((provider) => (
        <ProviderPart
          key={provider.provider}
          provider={provider}
          team={record}
          stored={secrets.data.filter((secret) => secret.provider === provider.provider)}
        />
      ))}
    </>
  )
}

function ProviderPart({ provider, team, stored }: { provider: Provider; team: TeamRecord; stored: Secret[] }) {
  const [open, setOpen] = useState(false)
  /** Of the last test of what is saved. */
  const [result, setResult] = useState<TestResult | null>(null)
  const change = stored.length > 0 ? 'Change the credentials' : 'Set the credentials'
  return (
    <section className={layout.section} aria-label={provider.name}>
      <h2>{provider.name}</h2>
      {provider.supported ? null : (
        <Notice tone="warn">
          This service cannot talk to {provider.name}: it stores credentials, and runs no job there.
        </Notice>
      )}
      {stored.length > 0 ? (
        <Stored provider={provider} team={team} stored={stored} onTested={setResult} />
      ) : (
        <p>The team has none.</p>
      )}
      {result && stored.length > 0 ? <TestOutcome result={result} /> : null}
      {open ? (
        <CredentialForm
          provider={provider}
          team={team}
          stored={stored}
          onClose={() => setOpen(false)}
          onSaved={(tested) => {
            setResult(tested)
            setOpen(false)
          }}
        />
      ) : (
        <Button
          why={whyNot(team.can.save_credentials)}
          onPress={() => setOpen(true)}
          aria-label={`${change} of ${provider.name}`}
        >
          {change}
        </Button>
      )}
    </section>
  )
}

function Stored(props: {
  provider: Provider
  team: TeamRecord
  stored: Secret[]
  onTested: (result: TestResult | null) => void
}) {
  const { provider, team, stored, onTested } = props
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  const again = () => readTeamAgain(queryClient)
  const test = async () => {
    onTested(null)
    const body = { team_id: team.id, provider: provider.provider }
    await action.run(async () => onTested(await bodyOf(api.POST('/api/team/secrets/test', { body }))))
    await again()
  }
  const remove = (id: string) => async () => {
    const path = { id }
    await withKey(path, (header) => bodyOf(api.DELETE('/api/team/secrets/{id}', { params: { path, header } })))
    onTested(null)
    await again()
  }
  return (
    <>
      <Table label={`Credentials of ${provider.name}`} heads={['Name', 'Value', 'Check', 'Saved', 'Actions']}>
        {stored.map((secret) => (
          <tr key={secret.id}>
            <td>
              <code>{secret.key_name}</code>
            </td>
            <td>{secret.masked_value}</td>
            <td>
              {secret.validation_status}
              {secret.validated_at ? (
                <>
                  , <Time at={secret.validated_at} />
                </>
              ) : null}
            </td>
            <td>
              <Time at={secret.updated_at} />
            </td>
            <td>
              <ConfirmButton
                text="Delete"
                title={`Delete ${secret.key_name} of ${provider.name}`}
                why={whyNot(secret.can.delete)}
                act={remove(secret.id)}
                onRefused={again}
              >
                <p>Jobs that need it are refused, and jobs under way at {provider.name} wait until it is set again.</p>
              </ConfirmButton>
            </td>
          </tr>
        ))}
      </Table>
      <div className={layout.bar}>
        <Button
          why={whyNot(stored[0]!.can.test)}
          isDisabled={action.pending}
          onPress={() => void test()}
          aria-label={`Test what ${provider.name} has`}
        >
          Test
        </Button>
        {action.pending ? <span role="status">Asking {provider.name}…</span> : null}
      </div>
      <Refusal error={action.error} />
    </>
  )
}
