// The budget of a team: limits, ceilings, and what is spent and reserved, in the figures of the service.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Budget, bodyOf } from '../../api/client.js'
import { Fact, Facts } from '../../components/facts.js'
import layout from '../../components/layout.module.css'
import { limitsOf } from '../../components/limits/limits.js'
import { Loading, Refusal } from '../../components/notice.js'
import { usd } from '../../components/text.js'
import { numberOf } from '../../text/number-of.js'
import { readAgain, teamBudgetQuery } from '../admin-queries.js'
import { type FormField, WriteForm } from '../write-form.js'

const limits = {
  per_job_usd: 'One job',
  per_suite_usd: 'One capsule run',
  daily_usd: 'A day',
  monthly_usd: 'A month'
} as const satisfies Record<keyof Budget['limits'], string>

type Limit = keyof typeof limits
type Path = Limit | `ceilings.${Limit}`
const limitNames = Object.keys(limits) as Limit[]

export function TeamBudget({ teamId }: { teamId: string }) {
  const { data, error } = useQuery(teamBudgetQuery(teamId))
  return (
    <section className={layout.section} aria-label="Budget">
      <h2>Budget</h2>
      <Refusal error={error} />
      {data ? <Standing teamId={teamId} budget={data} /> : error ? null : <Loading />}
    </section>
  )
}

function Standing({ teamId, budget }: { teamId: string; budget: Budget }) {
  const queryClient = useQueryClient()
  const start = startOf(budget)
  return (
    <>
      <Facts>
        {(['day', 'month'] as const).map((period) => (
          <Fact
            key={period}
            name={period === 'day' ? `Today, ${budget.day.date}` : `This month, ${budget.month.month}`}
          >
            {usd(budget[period].spent_usd)} spent, {usd(budget[period].reserved_usd)} reserved,{' '}
            {usd(budget[period].remaining_usd)} left
          </Fact>
        ))}
      </Facts>
      <WriteForm
        fields={limitNames.flatMap((name): FormField<Path>[] => [
          {
            name,
            label: `${limits[name]}: limit, in USD`,
            kind: 'decimal',
            start: start[name],
            limits: limitsOf('adminSetBudget', name)
          },
          {
            name: `ceilings.${name}`,
            label: `${limits[name]}: ceiling, in USD`,
            kind: 'decimal',
            start: start[`ceilings.${name}`],
            limits: limitsOf('adminSetBudget', `ceilings.${name}`)
          }
        ])}
        button="Change the budget"
        send={(values, header) =>
          bodyOf(
            api.PUT('/api/admin/teams/{id}/budgets', {
              params: { path: { id: teamId }, header },
              body: changesOf(start, values)
            })
          )
        }
        onDone={() => readAgain(queryClient)}
      />
      <p className={layout.quiet}>The owner of the team can set its limits up to the ceilings.</p>
    </>
  )
}

const startOf = ({ limits, ceilings }: Budget): Record<Path, string> =>
  Object.fromEntries(
    limitNames.flatMap((name) => [
      [name, plainText(limits[name])],
      [`ceilings.${name}`, plainText(ceilings[name])]
    ])
  ) as Record<Path, string>

/** Amounts have at most six decimals, which the shortest text of a number keeps; it never has an exponent above 0.000001. */
const plainText = (amount: number): string => amount.toFixed(6).replace(/\.?0+$/, '')

/** What was changed. Sending a limit that is cut by its ceiling would set it to the ceiling. */
function changesOf(start: Record<Path, string>, values: Record<Path, string>) {
  const changed = (path: Path) => values[path].trim() !== start[path]
  const ceilings = limitNames.filter((name) => changed(`ceilings.${name}`))
  return {
    ...Object.fromEntries(limitNames.filter(changed).map((name) => [name, numberOf(values[name])])),
    ...(ceilings.length > 0 && {
      ceilings: Object.fromEntries(ceilings.map((name) => [name, numberOf(values[`ceilings.${name}`])]))
    })
  }
}
