import { Link } from '@tanstack/react-router'
import { Fact, Facts } from '../components/facts.js'
import { Table, Wide } from '../components/table.js'
import { duration, Time, usd } from '../components/text.js'
import type { JobRecord } from './record/job-record.js'

export function JobFacts({ record }: { record: JobRecord }) {
  const { started_at, completed_at, workflow, choice } = record
  return (
    <>
      <Facts>
        <Fact name="Id">
          <code>{record.id}</code>
        </Fact>
        <Fact name="Backend">
          {record.backend} ({record.provider})
        </Fact>
        <Fact name="Cost">
          {record.actual_cost_usd === null
            ? `${usd(record.estimated_cost_usd)} estimated`
            : `${usd(record.actual_cost_usd)} (${usd(record.estimated_cost_usd)} estimated)`}
        </Fact>
        <Fact name="Submitted">
          <Time at={record.created_at} />
        </Fact>
        <Fact name="Started">
          <Time at={started_at} />
        </Fact>
        <Fact name="Ended">
          <Time at={completed_at} />
          {started_at && completed_at ? ` (${duration(started_at, completed_at)})` : ''}
        </Fact>
        <Fact name="Mode">{record.execution_mode}</Fact>
        <Fact name="Framework">{record.framework ?? 'not known yet'}</Fact>
        {record.script_id ? (
          <Fact name="Script">
            <Link to="/scripts/$id" params={{ id: record.script_id }} search={{ tab: 'versions' }} preload={false}>
              version {record.source.script_version}
            </Link>
          </Fact>
        ) : null}
        {record.labels.length > 0 ? <Fact name="Labels">{record.labels.join(', ')}</Fact> : null}
        {record.status_reason ? <Fact name="Reason">{record.status_reason}</Fact> : null}
        {record.not_before ? (
          <Fact name="Not before">
            <Time at={record.not_before} />
          </Fact>
        ) : null}
        {workflow ? (
          <Fact name="Workflow">
            {workflow.url ? (
              <a href={workflow.url} target="_blank" rel="noreferrer">
                Open in the Temporal UI
              </a>
            ) : (
              <code>{workflow.id}</code>
            )}
          </Fact>
        ) : null}
      </Facts>
      {choice ? (
        <details>
          <summary>Why {choice.chosen}</summary>
          <ul>
            {choice.candidates.map(({ backend, reason, usable }) => (
              <li key={backend}>
                {backend}
                {usable ? '' : ' (cannot be used)'}: {reason}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
      <ProviderJobs record={record} />
    </>
  )
}

function ProviderJobs({ record: { provider_jobs: jobs } }: { record: JobRecord }) {
  if (jobs.length === 0) return null
  return (
    <>
      <h2>Jobs at providers</h2>
      <Table label="Jobs at providers" heads={['Provider', 'Id there', 'Status', 'Submitted', 'Ended', 'Cost', 'Note']}>
        {jobs.map((job) => (
          <tr key={`${job.provider_job_id} ${job.submitted_at}`}>
            <td>{job.provider}</td>
            <Wide>{job.provider_job_id ?? '–'}</Wide>
            <td>
              {job.status}
              {job.queue_position === null ? '' : `, position ${job.queue_position}`}
            </td>
            <td>
              <Time at={job.submitted_at} />
            </td>
            <td>
              <Time at={job.ended_at} />
            </td>
            <td>
              {usd(job.cost_usd)}
              {job.usage ? ` (${job.usage.amount} ${job.usage.unit})` : ''}
            </td>
            <td>{job.note ?? ''}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}
