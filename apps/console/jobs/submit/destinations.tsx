// Where a job can run: each backend with its price, its queue, and why the service would refuse the job there now.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { stringify } from 'lossless-json'
import { useEffect, useState } from 'react'
import { api, type Budget, bodyOf } from '../../api/client.js'
import type { components } from '../../api/schema.js'
import { Notice } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { usd } from '../../components/text.js'
import { durationText } from '../../text/times.js'

export type Destination = components['schemas']['Destination']

/** Nothing is asked while someone types. */
const QUIET_MS = 400
/** Queues and limits change while a form is open. */
const AGAIN_MS = 30_000
const SHOTS_OF_A_LIST = '1000'

/**
 * @param shots as typed; those of a list count while they are not a number.
 * @param others the parameters beside them, which have their price too. The same object for the same parameters.
 */
export function useDestinations(shots: string, others: object, team: { team_id?: string }) {
  const asked = useQuiet(/^\d{1,9}$/.test(shots) && Number(shots) > 0 ? shots : SHOTS_OF_A_LIST)
  return useQuery({
    queryKey: ['destinations', team, asked, numberOf(others)],
    placeholderData: keepPreviousData,
    refetchInterval: AGAIN_MS,
    queryFn: ({ signal }) => {
      const body = { ...team, params: { ...others, shots: Number(asked) } }
      return bodyOf(api.POST('/api/jobs/destinations', { body, bodySerializer: textOf, signal }))
    }
  })
}

const textOf = (body: unknown): string => stringify(body) ?? ''

const numbers = new WeakMap<object, number>()
let given = 0

/** Parameters can be megabytes of points, which no key of a query should hold. */
function numberOf(params: object): number {
  const known = numbers.get(params) ?? ++given
  numbers.set(params, known)
  return known
}

export function Destinations({
  destinations,
  chosen,
  onChoose
}: {
  destinations: readonly Destination[]
  chosen: string
  onChoose: (backend: string) => void
}) {
  return (
    <Table label="Backends" heads={['Backend', 'Price', 'Queue', 'Now']}>
      {destinations.map((one) => (
        <tr key={one.backend}>
          <td>
            <label>
              <input
                type="radio"
                name="backend"
                value={one.backend}
                checked={one.backend === chosen}
                onChange={() => onChoose(one.backend)}
              />{' '}
              {one.name}
              {one.emulated ? ' (emulated)' : ''}
            </label>
          </td>
          <td>{usd(one.estimated_cost_usd)}</td>
          <td>{queueText(one)}</td>
          <Wide>{one.available ? 'can run it' : reasonOf(one)}</Wide>
        </tr>
      ))}
    </Table>
  )
}

/** The price on the chosen backend, and what is left of each limit. */
export const Standing = ({ destination, budget }: { destination: Destination | undefined; budget: Budget }) => (
  <Notice>
    {destination ? (
      <>
        Estimated cost: <strong>{usd(destination.estimated_cost_usd)}</strong>.{' '}
      </>
    ) : null}
    Left today: {usd(budget.day.remaining_usd)} of {usd(budget.limits.daily_usd)}, this month:{' '}
    {usd(budget.month.remaining_usd)} of {usd(budget.limits.monthly_usd)}; limit of one job:{' '}
    {usd(budget.limits.per_job_usd)}.
  </Notice>
)

/** In the service's words. */
export const reasonOf = ({ refusals }: Destination): string => refusals.map(({ message }) => message).join('; ')

function queueText({ queue_length, queue_seconds }: Destination): string {
  if (queue_seconds === 0 && !queue_length) return 'none'
  const jobs = queue_length === null ? '' : `${queue_length} jobs`
  const time = queue_seconds === null ? '' : `about ${durationText(queue_seconds * 1_000)}`
  return [jobs, time].filter((part) => part !== '').join(', ') || 'not known'
}

/** The last value that stayed for a moment. */
function useQuiet(value: string): string {
  const [quiet, setQuiet] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), QUIET_MS)
    return () => clearTimeout(timer)
  }, [value])
  return quiet
}
