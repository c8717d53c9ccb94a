import type { JobStatus } from '../api/client.js'
import styles from './status.module.css'

const tones = {
  pending: 'open',
  running: 'open',
  cancelling: 'open',
  completed: 'ok',
  failed: 'bad',
  cancelled: 'quiet',
  dispatch_failed: 'bad'
} as const satisfies Record<JobStatus, string>

export const jobStatuses = Object.keys(tones) as JobStatus[]

export const statusText = (status: string): string => status.replaceAll('_', ' ')

/** The status in the API's word; its colour is only in addition. */
export const Status = ({ status }: { status: JobStatus }) => (
  <span className={`${styles.status} ${styles[tones[status]]}`}>{statusText(status)}</span>
)
