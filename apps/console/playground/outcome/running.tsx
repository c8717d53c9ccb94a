import { useEffect, useState } from 'react'
import { Button } from '../../components/button.js'
import { durationText } from '../../text/times.js'
import styles from '../playground.module.css'

/** A run that is over sooner shows no progress. */
const QUICK_MS = 1_000

export function Running({ since, share, cancel }: { since: number; share: number | null; cancel: () => void }) {
  const [now, setNow] = useState(since)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [])
  return (
    <div className={styles.bar}>
      <Button kind="danger" onPress={cancel}>
        Cancel
      </Button>
      <span role="status">Running…</span>
      {now - since < QUICK_MS ? null : (
        <>
          <progress aria-label="Progress of the run" value={share ?? undefined} max={1} />
          <span>{durationText(now - since)}</span>
        </>
      )}
    </div>
  )
}
