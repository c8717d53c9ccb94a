import { duration, Time } from '../components/text.js'
import type { JobEvent, StatusEvent } from './job-stream.js'
import styles from './jobs.module.css'
import { Status } from './status.js'

/** Each status with its time, and how long it lasted. */
export function Timeline({ events, ended }: { events: readonly JobEvent[]; ended: boolean }) {
  const changes = events.filter((event): event is StatusEvent => event.type === 'status')
  if (changes.length === 0) return null
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <ol className={styles.timeline}>
        {changes.map(({ seq, status, reason, at }, index) => {
          const next = changes[index + 1]
          return (
            <li key={seq}>
              <Status status={status} />
              <Time at={at} />
              <span className={styles.quiet}>
                {next ? `for ${duration(at, next.at)}` : ended ? '' : 'now'}
                {reason ? ` ${reason}` : ''}
              </span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}
