// A long table. Only the rows near the window are on the page, so that 100,000 cost as much as 50.
import { type ReactNode, useEffect } from 'react'
import tables from '../table.module.css'
import { type SeenRows, useRowWindow } from './use-row-window.js'
import styles from './windowed-table.module.css'

/** In pixels; the style sheet has the same. */
const ROW = 64

export interface Column {
  head: string
  /** Such as `9rem`; the columns without one share the rest. Columns have one width, whichever rows are on the page. */
  width?: string
}

export function WindowedTable<Row>(props: {
  columns: readonly Column[]
  rows: readonly Row[]
  /** How many there are, as far as that is known. */
  total: number
  /** @param index of the row in the whole table, for its `WindowedRow`. */
  row: (row: Row, index: number) => ReactNode
  onSee: (rows: SeenRows) => void
}) {
  const { columns, rows, total, row, onSee } = props
  const [place, { from, to }] = useRowWindow<HTMLTableSectionElement>(rows.length, ROW)
  useEffect(() => {
    // What it returns is not for React, which would call it.
    onSee({ from, to })
  }, [onSee, from, to])
  const space = (count: number) => <Space rows={count} columns={columns.length} />
  return (
    <div className={tables.scroll}>
      <table className={`${tables.table} ${styles.table}`} aria-rowcount={Math.max(total, rows.length) + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ head, width }) => (
              <th key={head} scope="col" style={{ width }}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={place}>
          {space(from)}
          {rows.slice(from, to).map((one, at) => row(one, from + at + 2))}
          {space(rows.length - to)}
        </tbody>
      </table>
    </div>
  )
}

/** The place of rows that are not on the page. */
const Space = ({ rows, columns }: { rows: number; columns: number }) =>
  rows === 0 ? null : (
    <tr>
      <td colSpan={columns} className={styles.space} style={{ height: rows * ROW }} />
    </tr>
  )

/** The cells of a row: of one height, so that the place of each row is known. */
export const WindowedRow = ({ index, children }: { index: number; children: ReactNode }) => (
  <tr aria-rowindex={index} className={styles.row}>
    {children}
  </tr>
)

/** One line of a cell. What does not fit is in its title. */
export const Line = ({ text, children }: { text: string; children?: ReactNode }) => (
  <div className={styles.line} title={text}>
    {children ?? text}
  </div>
)

/** The second line of a cell. */
export const QuietLine = ({ text }: { text: string }) =>
  text === '' ? null : (
    <div className={`${styles.line} ${styles.quiet}`} title={text}>
      {text}
    </div>
  )
