import { groupedDigits, numbered } from '../text/exact-numbers.js'
import { Button } from './button.js'
import styles from './pager.module.css'

/** Steps through a list, newest first. @param page from 1. */
export function Pager(props: {
  page: number
  size: number
  total: number
  capped?: boolean
  /** In the singular. */
  noun: string
  onPage: (page: number) => void
}) {
  const { page, size, total, capped, noun, onPage } = props
  const [first, last] = [(page - 1) * size + 1, Math.min(page * size, total)]
  const all = `${capped ? 'at least ' : ''}${numbered(total, noun)}`
  return (
    <nav className={styles.pager} aria-label={`Pages: ${noun}`}>
      <span role="status">
        {total <= size && page === 1 ? all : `${groupedDigits(first)} to ${groupedDigits(last)} of ${all}`}
      </span>
      {page > 1 ? <Button onPress={() => onPage(page - 1)}>Newer</Button> : null}
      {last < total ? <Button onPress={() => onPage(page + 1)}>Older</Button> : null}
    </nav>
  )
}
