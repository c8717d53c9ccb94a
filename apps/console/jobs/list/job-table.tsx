// The rows of the list of jobs.
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { JobItem } from '../../api/client.js'
import layout from '../../components/layout.module.css'
import { shortId, Time, usd } from '../../components/text.js'
import type { SeenRows } from '../../components/windowed/use-row-window.js'
import { Line, QuietLine, WindowedRow, WindowedTable } from '../../components/windowed/windowed-table.js'
import { Status } from '../status.js'

const columns = [
  { head: 'Job' },
  { head: 'Status', width: '9rem' },
  { head: 'Backend', width: '11rem' },
  { head: 'Cost', width: '8rem' },
  { head: 'Submitted', width: '13rem' }
]

export const JobTable = (props: { jobs: readonly JobItem[]; total: number; onSee: (rows: SeenRows) => void }) => (
  <WindowedTable
    columns={columns}
    rows={props.jobs}
    total={props.total}
    row={(job, index) => <JobRow key={job.id} job={job} index={index} />}
    onSee={props.onSee}
  />
)

const JobRow = memo(({ job, index }: { job: JobItem; index: number }) => (
  <WindowedRow index={index}>
    <td>
      <Line text={[job.name ?? shortId(job.id), ...job.labels].join(', ')}>
        <Link to="/jobs/$id" params={{ id: job.id }} preload={false}>
          {job.name ?? shortId(job.id)}
        </Link>
        {job.labels.length > 0 ? <span className={layout.quiet}> {job.labels.join(', ')}</span> : null}
      </Line>
      <QuietLine text={summaryOf(job)} />
    </td>
    <td>
      <Status status={job.status} />
      <QuietLine text={progressOf(job)} />
    </td>
    <td>
      <Line text={job.backend} />
      <QuietLine text={job.emulated ? 'emulated' : ''} />
    </td>
    <td>{job.actual_cost_usd === null ? `${usd(job.estimated_cost_usd)} est.` : usd(job.actual_cost_usd)}</td>
    <td>
      <Time at={job.created_at} />
    </td>
  </WindowedRow>
))

/** Why it waits or failed, else what its program says of itself. */
function summaryOf({ queue, error, summary }: JobItem): string {
  if (queue) return queue.message
  if (error) return error.message
  return Object.entries(summary ?? {})
    .map(([label, text]) => `${label}: ${text}`)
    .join('; ')
}

function progressOf({ progress }: JobItem): string {
  if (!progress) return ''
  const failed = progress.points_failed > 0 ? `, ${progress.points_failed} failed` : ''
  return `${progress.points_done} of ${progress.points_total} points${failed}`
}
