import type { ReactNode } from 'react'
import { messageOf } from '../api/api-error.js'
import styles from './notice.module.css'

/** A message to the reader; `bad` and `warn` are announced at once. */
export function Notice({ tone = 'info', children }: { tone?: 'info' | 'ok' | 'warn' | 'bad'; children: ReactNode }) {
  return (
    <div className={`${styles.notice} ${styles[tone]}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** A refusal in the service's words. */
export const Refusal = ({ error }: { error: unknown }) =>
  error === null || error === undefined ? null : <Notice tone="bad">{messageOf(error)}</Notice>

/** What a page shows where there is nothing yet, and what to do first. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.empty}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

export const Loading = () => (
  <p className={styles.loading} role="status">
    Loading…
  </p>
)
