// The rows of the list of jobs. Only those near the window are on the page: a list of 10,000 jobs costs as much as one of 50.
import { Link } from '@tanstack/react-router'
import { memo, useEffect } from 'react'
import type { JobItem } from '../../api/client.js'
import tables from '../../components/table.module.css'
import { shortId, Time, usd } from '../../components/text.js'
import { Status } from '../status.js'
import styles from './job-table.module.css'
import type { SeenRows } from './list-reader.js'
import { useRowWindow } from './use-row-window.js'

/** In pixels; the style sheet has the same. */
const ROW = 64

export function JobTable({
  jobs,
  total,
  onSee
}: {
  jobs: readonly JobItem[]
  total: number
  onSee: (rows: SeenRows) => void
}) {
  const [place, { from, to }] = useRowWindow<HTMLTableSectionElement>(jobs.length, ROW)
  useEffect(() => onSee({ from, to }), [onSee, from, to])
  return (
    <div className={tables.scroll}>
      <table className={`${tables.table} ${styles.jobs}`} aria-rowcount={Math.max(total, jobs.length) + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Job</th>
            <th scope="col">Status</th>
            <th scope="col">Backend</th>
            <th scope="col">Cost</th>
            <th scope="col">Submitted</th>
          </tr>
        </thead>
        <tbody ref={place}>
          <Space rows={from} />
          {jobs.slice(from, to).map((job, at) => (
            <JobRow key={job.id} job={job} index={from + at + 2} />
          ))}
          <Space rows={jobs.length - to} />
        </tbody>
      </table>
    </div>
  )
}

/** The place of rows that are not on the page. */
const Space = ({ rows }: { rows: number }) =>
  rows === 0 ? null : (
    <tr>
      <td colSpan={5} className={styles.space} style={{ height: rows * ROW }} />
    </tr>
  )

const JobRow = memo(({ job, index }: { job: JobItem; index: number }) => (
  <tr aria-rowindex={index} className={styles.row}>
    <td>
      <div className={styles.line}>
        <Link to="/jobs/$id" params={{ id: job.id }} preload={false}>
          {job.name ?? shortId(job.id)}
        </Link>
        {job.labels.length > 0 ? <span className={styles.quiet}> {job.labels.join(', ')}</span> : null}
      </div>
      <Line text={summaryOf(job)} />
    </td>
    <td>
      <Status status={job.status} />
      <Line text={progressOf(job)} />
    </td>
    <td>
      <div className={styles.line} title={job.backend}>
        {job.backend}
      </div>
      <Line text={job.emulated ? 'emulated' : ''} />
    </td>
    <td>{job.actual_cost_usd === null ? `${usd(job.estimated_cost_usd)} est.` : usd(job.actual_cost_usd)}</td>
    <td>
      <Time at={job.created_at} />
    </td>
  </tr>
))

/** What does not fit is in the title, and on the job's page. */
const Line = ({ text }: { text: string }) =>
  text === '' ? null : (
    <div className={`${styles.line} ${styles.quiet}`} title={text}>
      {text}
    </div>
  )

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
