// Held money, costs above their reservation, and the proofs of the ledger.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import layout from '../../components/layout.module.css'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { shortId, Time, usd } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { numbered } from '../../text/exact-numbers.js'
import { type Money, moneyQuery } from '../admin-queries.js'
import { Sweeps } from '../system/sweeps.js'
import { Settle } from './settle.js'

export function MoneyPage() {
  usePageTitle('Money')
  const { data, error } = useQuery(moneyQuery)
  return (
    <>
      <h1>Money</h1>
      <Refusal error={error} />
      {data ? (
        <>
          <Held money={data} />
          <Above money={data} />
          <section className={layout.section} aria-label="Proofs of the ledger">
            <h2>Proofs of the ledger</h2>
            <Sweeps label="Proofs" sweeps={data.proofs} />
          </section>
        </>
      ) : error ? null : (
        <Loading />
      )}
    </>
  )
}

function Held({ money: { held, held_jobs, held_usd } }: { money: Money }) {
  return (
    <section className={layout.section} aria-label="Held money">
      <h2>Held money</h2>
      <p>
        {usd(held_usd)} of {numbered(held_jobs, 'job')} whose provider has not stated a cost
        {held.length < held_jobs ? `; the oldest ${held.length} are listed` : ''}.
      </p>
      {held.length === 0 ? null : (
        <Table label="Held money" heads={['Job', 'Team', 'Backend', 'Held', 'Since', 'Why', 'Settle']}>
          {held.map((job) => (
            <tr key={job.job_id}>
              <td>
                <AnyJobLink id={job.job_id} />
                <div className={layout.quiet}>{job.status}</div>
              </td>
              <Wide>
                <TeamLink id={job.team_id} name={job.team_name} />
              </Wide>
              <td>
                {job.backend}
                <div className={layout.quiet}>{job.provider_job_id ?? 'without an id there'}</div>
              </td>
              <td>{usd(job.held_usd)}</td>
              <td>
                <Time at={job.since} />
              </td>
              <Wide>
                {job.status_reason ?? '–'}
                <div className={layout.quiet}>
                  {job.asks_provider_at ? (
                    <>
                      {job.provider} is asked again <Time at={job.asks_provider_at} />
                    </>
                  ) : (
                    `${job.provider} is no longer asked`
                  )}
                </div>
              </Wide>
              <td>
                <Settle jobId={job.job_id} heldUsd={job.held_usd} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

function Above({ money: { over_reservation: over } }: { money: Money }) {
  return (
    <section className={layout.section} aria-label="Costs above their reservation">
      <h2>Costs above their reservation</h2>
      {over.length === 0 ? (
        <p>No job cost more than was reserved for it.</p>
      ) : (
        <Table label="Costs above their reservation" heads={['Job', 'Team', 'Backend', 'Reserved', 'Cost', 'Booked']}>
          {over.map((job) => (
            <tr key={job.job_id}>
              <td>
                <AnyJobLink id={job.job_id} />
              </td>
              <Wide>
                <TeamLink id={job.team_id} name={job.team_name} />
              </Wide>
              <td>{job.backend}</td>
              <td>{usd(job.reserved_usd)}</td>
              <td>{usd(job.settled_usd)}</td>
              <td>
                <Time at={job.settled_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

const AnyJobLink = ({ id }: { id: string }) => (
  <Link to="/admin/jobs/$id" params={{ id }}>
    {shortId(id)}
  </Link>
)

const TeamLink = ({ id, name }: { id: string; name: string }) => (
  <Link to="/admin/teams/$id" params={{ id }}>
    {name}
  </Link>
)
