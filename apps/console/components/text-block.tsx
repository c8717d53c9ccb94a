import styles from './text-block.module.css'

/** Text of any length, as it is. */
export function TextBlock({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
    <section className={styles.block} aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  )
}
