import type { ReactNode } from 'react'
import styles from './table.module.css'

/** A table that scrolls sideways within its place. @param heads must differ. */
export function Table({ label, heads, children }: { label: string; heads: readonly string[]; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

/** A cell of text without an end, which is broken anywhere. */
export const Wide = ({ children }: { children: ReactNode }) => <td className={styles.wide}>{children}</td>
