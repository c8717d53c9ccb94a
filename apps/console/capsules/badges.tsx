import styles from './capsules.module.css'
import { toneOf, wordsOf } from './words.js'

/** A verdict is always named; its colour is in addition. */
export const VerdictBadge = ({ verdict }: { verdict: string }) => (
  <span className={`${styles.verdict} ${styles[toneOf(verdict)]}`}>{wordsOf(verdict)}</span>
)
