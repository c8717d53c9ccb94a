// What the team ran and spent in a month. Every figure is one of the answer; only the lengths of the bars are made here.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Fact, Facts } from '../../components/facts.js'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { usd } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import { shownText } from '../../text/shown-text.js'
import styles from '../parts/parts.module.css'
import { type Usage, usageQuery } from '../team-queries.js'
import { useTeamRecord } from '../use-team-record.js'
import { Bar } from './bar.js'

export function UsagePage() {
  usePageTitle('Usage')
  const { id } = useTeamRecord()
  const navigate = useNavigate()
  const { month } = useSearch({ strict: false }) as { month?: string }
  // The present month's answer names the months to choose from.
  const now = useQuery(usageQuery(id, undefined))
  const { data, error } = useQuery({ ...usageQuery(id, month), placeholderData: keepPreviousData })
  if (!data) return error ? <Refusal error={error} /> : <Loading />
  const months = now.data?.months ?? []
  const choices = [...new Set([...months.map((one) => one.month), ...(month === undefined ? [] : [month])])]
  const csv = `/api/team/usage?team_id=${encodeURIComponent(id)}&month=${data.period.month}&format=csv`
  return (
    <>
      <div className={layout.bar}>
        <Choice
          label="Month (UTC)"
          value={data.period.month}
          options={choices.map((value) => ({ value, text: value }))}
          onChange={(value) => void navigate({ to: '/team/usage', search: { month: value } })}
        />
        <a href={csv} download>
          Download as CSV
        </a>
      </div>
      <Refusal error={error} />
      <Summary usage={data} />
      <Months usage={data} />
      <section className={layout.section}>
        <h2>By provider</h2>
        <Table label="By provider" heads={['Provider', 'Spent', 'Jobs', 'Shots']}>
          {data.byProvider.map(({ provider, spend, jobs, shots }) => (
            <tr key={provider}>
              <Wide>{shownText(provider)}</Wide>
              <Figures spend={spend} counts={[jobs, shots]} />
            </tr>
          ))}
        </Table>
      </section>
      <section className={layout.section}>
        <h2>By backend</h2>
        <Table label="By backend" heads={['Backend', 'Provider', 'Spent', 'Jobs', 'Shots']}>
          {data.byBackend.map(({ backend, name, provider, spend, jobs, shots }) => (
            <tr key={`${backend} ${provider}`}>
              <Wide>{shownText(name)}</Wide>
              <td>{shownText(provider)}</td>
              <Figures spend={spend} counts={[jobs, shots]} />
            </tr>
          ))}
        </Table>
      </section>
      <Days usage={data} />
    </>
  )
}

function Figures({ spend, counts }: { spend: number; counts: number[] }) {
  return (
    <>
      <td className={styles.figure}>{usd(spend)}</td>
      {counts.map((count, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed, and counts can be equal
        <td key={column} className={styles.figure}>
          {groupedDigits(count)}
        </td>
      ))}
    </>
  )
}

function Summary({ usage: { summary, storage } }: { usage: Usage }) {
  const { totalSpend, lastMonthSpend, changePercent } = summary
  return (
    <Facts>
      <Fact name="Spent">{usd(totalSpend)}</Fact>
      <Fact name="The month before">
        {usd(lastMonthSpend)}
        {changePercent === null ? '' : ` (${changePercent > 0 ? '+' : ''}${changePercent} %)`}
      </Fact>
      {storage ? (
        <Fact name="Stored now">
          {groupedDigits(storage.usedBytes)} of {groupedDigits(storage.limitBytes)} bytes
        </Fact>
      ) : null}
    </Facts>
  )
}

function Months({ usage: { months = [] } }: { usage: Usage }) {
  const most = Math.max(...months.map(({ spend }) => spend), 0)
  return (
    <section className={layout.section}>
      <h2>By month</h2>
      <Table label="By month" heads={['Month', 'Spent', 'Share of the largest']}>
        {months.map(({ month, spend }) => (
          <tr key={month}>
            <th scope="row">{month}</th>
            <td className={styles.figure}>{usd(spend)}</td>
            <td>
              <Bar value={spend} most={most} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Days({ usage: { daily } }: { usage: Usage }) {
  const most = Math.max(...daily.map(({ spend }) => spend), 0)
  return (
    <section className={layout.section}>
      <h2>By day</h2>
      <Table label="By day" heads={['Day', 'Spent', 'Jobs', 'Share of the largest']}>
        {daily.map(({ date, spend, jobs }) => (
          <tr key={date}>
            <th scope="row">{date}</th>
            <Figures spend={spend} counts={[jobs]} />
            <td>
              <Bar value={spend} most={most} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
