// What the team may spend, has spent, has reserved, and what is held. Every figure is one of the answer.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.js'
import { useWriteKey } from '../../api/write-key.js'
import { Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { shortId, Time, usd } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { numberOf } from '../../text/number-of.js'
import { shownText } from '../../text/shown-text.js'
import { ActionForm } from '../parts/action-form.js'
import styles from '../parts/parts.module.css'
import { useAction } from '../parts/use-action.js'
import { whyNot } from '../parts/verdicts.js'
import { budgetQuery, readTeamAgain, type TeamBudget, type TeamRecord } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'

const limits = [
  { name: 'per_job_usd', text: 'One job' },
  { name: 'per_suite_usd', text: 'One capsule run' },
  { name: 'daily_usd', text: 'A day (UTC)' },
  { name: 'monthly_usd', text: 'A month (UTC)' }
] as const
type LimitName = (typeof limits)[number]['name']

export function BudgetPage() {
  usePageTitle('Budget')
  const { id, record } = useTeamRecord()
  const { data: budget, error } = useQuery(budgetQuery(id))
  if (!budget) return error ? <Refusal error={error} /> : <Loading />
  return (
    <>
      <section className={layout.section}>
        <h2>Spent and reserved</h2>
        <Table label="Spent and reserved" heads={['Period', 'Spent', 'Reserved', 'Left', 'Limit']}>
          <Period text={`Today, ${budget.day.date}`} figures={budget.day} limit={budget.limits.daily_usd} />
          <Period text={`This month, ${budget.month.month}`} figures={budget.month} limit={budget.limits.monthly_usd} />
        </Table>
        <p className={layout.quiet}>
          A job reserves its estimate when it is submitted, and pays its actual cost when it ends; the rest is released.
        </p>
      </section>
      <Held held={budget.held} />
      {record ? <Limits team={record} budget={budget} /> : null}
    </>
  )
}

function Period(props: { text: string; figures: TeamBudget['day'] | TeamBudget['month']; limit: number }) {
  const { spent_usd, reserved_usd, remaining_usd } = props.figures
  return (
    <tr>
      <th scope="row">{props.text}</th>
      {[spent_usd, reserved_usd, remaining_usd, props.limit].map((figure, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed, and figures can be equal
        <td key={column} className={styles.figure}>
          {usd(figure)}
        </td>
      ))}
    </tr>
  )
}

function Held({ held }: { held: TeamBudget['held'] }) {
  if (held.jobs === 0) return null
  return (
    <section className={layout.section}>
      <h2>Held</h2>
      <p>
        {usd(held.total_usd)} of {held.jobs === 1 ? 'one job' : `${held.jobs} jobs`} whose cost the provider has not
        stated: the amount counts as reserved until it does, or until a platform administrator settles it.
      </p>
      <Table label="Held" heads={['Job', 'Backend', 'Held', 'Since', 'Why', 'Provider is asked next']}>
        {held.oldest.map((job) => (
          <tr key={job.job_id}>
            <td>
              <Link to="/jobs/$id" params={{ id: job.job_id }}>
                {shortId(job.job_id)}
              </Link>
            </td>
            <td>{job.backend}</td>
            <td className={styles.figure}>{usd(job.held_usd)}</td>
            <td>
              <Time at={job.since} />
            </td>
            <Wide>{job.reason === null ? 'The outcome at the provider is not known' : shownText(job.reason)}</Wide>
            <td>
              <Time at={job.asks_provider_at} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Limits({ team, budget }: { team: TeamRecord; budget: TeamBudget }) {
  const queryClient = useQueryClient()
  const withKey = useWriteKey()
  const action = useAction()
  /** What was typed and not saved; the other fields show the limits in force. */
  const [typed, setTyped] = useState<Partial<Record<LimitName, string>>>({})
  const [saved, setSaved] = useState(false)
  const save = async () => {
    const changes = Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, numberOf(text) as number]))
    const body = { team_id: team.id, ...changes }
    const done = await action.run(() =>
      withKey(body, (header) => bodyOf(api.PATCH('/api/team/budget', { params: { header }, body })))
    )
    if (done) setTyped({})
    setSaved(done)
    await readTeamAgain(queryClient)
  }
  return (
    <section className={layout.section}>
      <h2>Limits in USD</h2>
      <ActionForm
        label="Limits"
        button="Save the limits"
        action={action}
        fields={limits.map(({ name }) => name)}
        why={whyNot(team.can.change_budget)}
        onSubmit={() => void save()}
      >
        {(faultAt) =>
          limits.map(({ name, text }) => (
            <Field
              key={name}
              label={text}
              inputMode="decimal"
              help={`0 to ${usd(budget.ceilings[name])}, the ceiling that the platform sets`}
              value={typed[name] ?? String(budget.limits[name])}
              onChange={(value) => {
                setTyped((known) => ({ ...known, [name]: value }))
                setSaved(false)
              }}
              fault={faultAt(name)}
              isReadOnly={team.can.change_budget !== true}
            />
          ))
        }
      </ActionForm>
      {saved ? <Notice tone="ok">The limits hold from now on.</Notice> : null}
    </section>
  )
}
