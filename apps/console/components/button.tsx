import { Button as AriaButton, type ButtonProps } from 'react-aria-components'
import styles from './controls.module.css'

/** @param why it cannot be pressed; shown beside it. */
export function Button({ kind, why, ...props }: ButtonProps & { kind?: 'main' | 'danger'; why?: string | null }) {
  const look = kind === undefined ? styles.button! : `${styles.button} ${styles[kind]}`
  return (
    <span className={styles.action}>
      <AriaButton {...props} isDisabled={props.isDisabled || Boolean(why)} className={look} />
      {why ? <span className={styles.why}>{why}</span> : null}
    </span>
  )
}
