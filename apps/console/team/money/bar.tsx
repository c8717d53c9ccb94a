import styles from './bar.module.css'

/** A bar beside its figure, so it says nothing of its own to a screen reader. */
export function Bar({ value, most }: { value: number; most: number }) {
  const width = most > 0 ? Math.max(0, (100 * value) / most) : 0
  return (
    <svg className={styles.bar} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect width={width} height="10" />
    </svg>
  )
}
