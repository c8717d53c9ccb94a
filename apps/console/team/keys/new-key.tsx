import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Choice, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { LimitedField } from '../../components/limits/limited-field.js'
import { limitsOf, limitText } from '../../components/limits/limits.js'
import { numberOf } from '../../text/number-of.js'
import { ActionForm } from '../parts/action-form.js'
import { ShownOnce } from '../parts/shown-once.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { type ApiKey, readTeamAgain, type TeamRecord } from '../team-queries.js'
import { kindText, tierText } from './tier-text.js'

const choices = <Value extends string>(texts: Readonly<Record<Value, string>>) =>
  Object.entries<string>(texts).map(([value, text]) => ({ value, text: value === text ? text : `${value}: ${text}` }))

export function NewKey({ team }: { team: TeamRecord }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  const [name, setName] = useState('')
  const [tier, setTier] = useState<ApiKey['tier']>('simulate')
  const [kind, setKind] = useState<ApiKey['kind']>('live')
  const [limit, setLimit] = useState('')
  const [ends, setEnds] = useState('')
  /** While its dialog is open. */
  const [made, setMade] = useState<{ value: string | null } | null>(null)
  const make = async () => {
    const body = {
      team_id: team.id,
      name,
      tier,
      kind,
      ...(limit !== '' && { daily_limit_usd: numberOf(limit) as number }),
      ...(ends !== '' && { expires_at: `${ends}T23:59:59Z` })
    }
    await action.run(async () => {
      const answer = await withKey(body, (header) =>
        bodyOf(api.POST('/api/team/api-keys', { params: { header }, body }))
      )
      setMade({ value: 'key' in answer ? answer.key : null })
      setName('')
    })
    await readTeamAgain(queryClient)
  }
  return (
    <section className={layout.section}>
      <h2>Make a key</h2>
      <p className={layout.quiet}>
        A program with the key acts as you, as a member of this team at most. The key ends when you leave the team.
      </p>
      <ActionForm
        label="Make a key"
        button="Make the key"
        action={action}
        fields={['name', 'tier', 'kind', 'daily_limit_usd', 'expires_at']}
        why={whyNot(team.can.create_api_key)}
        onSubmit={() => void make()}
      >
        {(faultAt) => (
          <>
            <LimitedField
              label="Name of the key"
              limits={limitsOf('createApiKey', 'name')}
              value={name}
              onChange={setName}
              fault={faultAt('name')}
              isRequired
            />
            <Choice
              label="It may"
              value={tier}
              options={choices(tierText)}
              onChange={(value) => setTier(value as ApiKey['tier'])}
            />
            <Choice
              label="Kind"
              value={kind}
              options={choices(kindText)}
              onChange={(value) => setKind(value as ApiKey['kind'])}
            />
            <Field
              label="Daily limit in USD (optional)"
              inputMode="decimal"
              help={`${limitText(limitsOf('createApiKey', 'daily_limit_usd'))}; without one, only the team's limits hold`}
              value={limit}
              onChange={setLimit}
              fault={faultAt('daily_limit_usd')}
            />
            <Field
              label="Last day, UTC (optional)"
              type="date"
              value={ends}
              onChange={setEnds}
              fault={faultAt('expires_at')}
            />
          </>
        )}
      </ActionForm>
      {made ? (
        <ShownOnce
          title="The new API key"
          value={made.value}
          lost="The key was made, but the answer that shows it was lost. Revoke it in the list and make another one."
          onClose={() => setMade(null)}
        />
      ) : null}
    </section>
  )
}
