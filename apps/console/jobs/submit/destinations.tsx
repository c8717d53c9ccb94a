// Where a job can run, to choose from.
import type { ReactNode } from 'react'
import { Notice } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { usd } from '../../components/text.js'
import { durationText } from '../../text/times.js'
import { AUTO } from './settings.js'
import { type Destination, reasonOf, type Where } from './use-destinations.js'

export function Destinations({
  where: { destinations, isJudged },
  chosen,
  onChoose
}: {
  where: Where
  chosen: string
  onChoose: (backend: string) => void
}) {
  const choice = (backend: string, text: ReactNode) => (
    <label>
      <input
        type="radio"
        name="backend"
        value={backend}
        checked={backend === chosen}
        onChange={() => onChoose(backend)}
      />{' '}
      {text}
    </label>
  )
  if (destinations.length === 0) return null
  return (
    <Table label="Backends" heads={['Backend', 'Price', 'Queue', 'Now']}>
      {destinations.map((one) => (
        <tr key={one.backend}>
          <td>{choice(one.backend, `${one.name}${one.emulated ? ' (emulated)' : ''}`)}</td>
          <td>{usd(isJudged ? one.estimated_cost_usd : null)}</td>
          <td>{queueText(one)}</td>
          <Wide>{isJudged ? (one.available ? 'can run it' : reasonOf(one)) : '–'}</Wide>
        </tr>
      ))}
      <tr>
        <td>{choice(AUTO, 'The service chooses')}</td>
        <td>–</td>
        <td>–</td>
        <Wide>by your wishes, when the job is submitted</Wide>
      </tr>
    </Table>
  )
}

/** The price on the chosen backend, and what is left of each limit. */
export function Standing({ where, destination }: { where: Where; destination: Destination | undefined }) {
  const { budget, isJudged } = where
  if (budget === null) return null
  return (
    <Notice>
      {destination && isJudged ? (
        <>
          Estimated cost: <strong>{usd(destination.estimated_cost_usd)}</strong>.{' '}
        </>
      ) : null}
      Left today: {usd(budget.day.remaining_usd)} of {usd(budget.limits.daily_usd)}, this month:{' '}
      {usd(budget.month.remaining_usd)} of {usd(budget.limits.monthly_usd)}; limit of one job:{' '}
      {usd(budget.limits.per_job_usd)}.
    </Notice>
  )
}

function queueText({ queue_length, queue_seconds }: Destination): string {
  if (queue_seconds === 0 && !queue_length) return 'none'
  const jobs = queue_length === null ? '' : `${queue_length} jobs`
  const time = queue_seconds === null ? '' : `about ${durationText(queue_seconds * 1_000)}`
  return [jobs, time].filter((part) => part !== '').join(', ') || 'not known'
}
