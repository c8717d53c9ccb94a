import { groupedDigits, plural } from '../text/exact-numbers.js'
import { type ListTotal, totalText } from '../text/list-total.js'
import { Button } from './button.js'
import styles from './pager.module.css'

/** What the API says of a page of a list. */
export interface PageEnd extends ListTotal {
  limit: number
  offset: number
}

/** Steps through a list, newest first. */
export function Pager(props: {
  end: PageEnd
  /** How many rows are shown. */
  rows: number
  /** In the singular. */
  noun: string
  /** @param page from 1. */
  onPage: (page: number) => void
}) {
  const { end, rows, noun, onPage } = props
  const { total, total_capped, limit, offset } = end
  const page = Math.floor(offset / limit) + 1
  const all = `${totalText(end)} ${plural(total, noun)}`
  const isLast = total_capped ? rows < limit : offset + rows >= total
  const shown = rows === 0 ? 'none' : `${groupedDigits(offset + 1)} to ${groupedDigits(offset + rows)}`
  return (
    <nav className={styles.pager} aria-label={`Pages: ${noun}`}>
      <span role="status">{page === 1 && isLast ? all : `${shown} of ${all}`}</span>
      {page > 1 ? <Button onPress={() => onPage(page - 1)}>Newer</Button> : null}
      {isLast ? null : <Button onPress={() => onPage(page + 1)}>Older</Button>}
    </nav>
  )
}
