import { Link } from '@tanstack/react-router'
import type { JobItem } from '../api/client.js'
import { shortId, Time, usd } from '../components/text.js'
import styles from './jobs.module.css'
import { Status } from './status.js'

export function JobTable({ jobs }: { jobs: readonly JobItem[] }) {
  return (
    <div className={styles.scroll}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Status</th>
            <th scope="col">Backend</th>
            <th scope="col">Cost</th>
            <th scope="col">Submitted</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <JobRow key={job.id} job={job} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function JobRow({ job }: { job: JobItem }) {
  return (
    <tr>
      <td className={styles.what}>
        <Link to="/jobs/$id" params={{ id: job.id }}>
          {job.name ?? shortId(job.id)}
        </Link>
        {job.labels.length > 0 ? <span className={styles.quiet}> {job.labels.join(', ')}</span> : null}
        <Summary job={job} />
      </td>
      <td>
        <Status status={job.status} />
        <Progress job={job} />
      </td>
      <td>
        {job.backend}
        {job.emulated ? <span className={styles.quiet}> emulated</span> : null}
      </td>
      <td>{job.actual_cost_usd === null ? `${usd(job.estimated_cost_usd)} est.` : usd(job.actual_cost_usd)}</td>
      <td>
        <Time at={job.created_at} />
      </td>
    </tr>
  )
}

/** Why it waits or failed, else what its program says of itself. */
function Summary({ job: { queue, error, summary } }: { job: JobItem }) {
  const lines = queue
    ? [queue.message]
    : error
      ? [error.message]
      : Object.entries(summary ?? {}).map(([label, text]) => `${label}: ${text}`)
  return lines.map((line) => (
    <div key={line} className={styles.quiet}>
      {line}
    </div>
  ))
}

const Progress = ({ job: { progress } }: { job: JobItem }) =>
  progress ? (
    <div className={styles.quiet}>
      {progress.points_done} of {progress.points_total} points
      {progress.points_failed > 0 ? `, ${progress.points_failed} failed` : ''}
    </div>
  ) : null
