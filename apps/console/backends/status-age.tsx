// The status of a backend with its age: it is what the last look found, not since when it is so.

import type { Backend } from '../api/client.js'
import { backendsQuery } from '../api/queries.js'
import { useNow } from '../charts/use-now.js'
import { Time } from '../components/text.js'
import { durationText } from '../text/times.js'
import styles from './backends.module.css'

/** Providers are asked every five minutes, and a page that is seen reads what they said as often. */
const LOOK_MS = 5 * 60_000
/** Three looks found nothing, or nothing looks: no team has credentials. */
const OLD_MS = 3 * LOOK_MS

export const watchedBackends = { ...backendsQuery, refetchInterval: LOOK_MS }

/** The service's own simulators are as their status says, so it has no age. */
const own = 'Local'

export function StatusAge({ backend: { status, provider, statusUpdatedAt } }: { backend: Backend }) {
  const now = useNow(provider !== own)
  if (provider === own) return <>{status}</>
  const age = now - Date.parse(statusUpdatedAt)
  return (
    <>
      {status}, as of <Time at={statusUpdatedAt} /> ({durationText(age)} ago)
      {age > OLD_MS ? <span className={styles.old}> Not looked at since then, so it may have changed.</span> : null}
    </>
  )
}
