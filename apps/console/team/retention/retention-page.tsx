// How long the team keeps results, values of tasks and output of its jobs.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { limitsOf, limitText } from '../../components/limits/limits.js'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { numberOf } from '../../text/number-of.js'
import { ActionForm } from '../parts/action-form.js'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { readTeamAgain, retentionQuery, type TeamRecord, type TeamRetention } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'

const kinds = [
  { kind: 'results', field: 'results_days', text: 'Results and files of jobs' },
  { kind: 'task_values', field: 'task_values_days', text: 'Functions, arguments and return values of tasks' },
  { kind: 'output', field: 'output_days', text: 'What programs and tasks printed' }
] as const
type FieldName = (typeof kinds)[number]['field']

export function RetentionPage() {
  usePageTitle('Retention')
  const { id, record } = useTeamRecord()
  const { data: retention, error } = useQuery(retentionQuery(id))
  if (!retention) return error ? <Refusal error={error} /> : <Loading />
  return (
    <>
      <section className={layout.section}>
        <h2>Kept after the end of a job</h2>
        <Table
          label="Kept after the end of a job"
          heads={['Content', 'Kept', "The team's own number from", 'Platform']}
        >
          {kinds.map(({ kind, text }) => {
            const { days, team_days_from, platform_days } = retention[kind]
            return (
              <tr key={kind}>
                <th scope="row">{text}</th>
                <td>{daysText(days)}</td>
                <td>{team_days_from === null ? '' : <Time at={team_days_from} />}</td>
                <td>{daysText(platform_days)}</td>
              </tr>
            )
          })}
        </Table>
        <p className={layout.quiet}>
          The record of a job stays forever. A capsule keeps what belongs to it as long as it exists.
        </p>
      </section>
      {record ? <Days team={record} retention={retention} /> : null}
    </>
  )
}

function Days({ team, retention }: { team: TeamRecord; retention: TeamRetention }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  /** What was typed and not saved; the other fields show the team's own numbers. */
  const [typed, setTyped] = useState<Partial<Record<FieldName, string>>>({})
  const [saved, setSaved] = useState(false)
  const save = async () => {
    const changes = Object.fromEntries(
      Object.entries(typed).map(([name, text]) => [name, text.trim() === '' ? null : numberOf(text)])
    )
    const body = { team_id: team.id, ...changes }
    const done = await action.run(() =>
      withKey(body, (header) => bodyOf(api.PATCH('/api/team/retention', { params: { header }, body })))
    )
    if (done) setTyped({})
    setSaved(done)
    await readTeamAgain(queryClient)
  }
  return (
    <section className={layout.section}>
      <h2>The team's own number of days</h2>
      <ActionForm
        label="Days"
        button="Save the days"
        action={action}
        fields={kinds.map(({ field }) => field)}
        why={whyNot(team.can.change_retention)}
        onSubmit={() => void save()}
      >
        {(faultAt) =>
          kinds.map(({ kind, field, text }) => (
            <Field
              key={field}
              label={text}
              inputMode="numeric"
              help={`${limitText(limitsOf('updateRetention', field))} days; empty: as long as the platform keeps them`}
              value={typed[field] ?? String(retention[kind].team_days ?? '')}
              onChange={(value) => {
                setTyped((known) => ({ ...known, [field]: value }))
                setSaved(false)
              }}
              fault={faultAt(field)}
              isReadOnly={team.can.change_retention !== true}
            />
          ))
        }
      </ActionForm>
      <p className={layout.quiet}>
        A number holds a day after it was set. What is removed then cannot be brought back: put results that have to
        last into a capsule.
      </p>
      {saved ? <Notice tone="ok">Saved. A new number holds in a day.</Notice> : null}
    </section>
  )
}

const daysText = (days: number | null): string => (days === null ? 'forever' : days === 1 ? '1 day' : `${days} days`)
