// What a simulator of the browser knows beyond the counts. Outcomes and states are written with qubit 0 leftmost.
import { useState } from 'react'
import { Button } from '../../components/button.js'
import { numbered } from '../../text/exact-numbers.js'
import { clipped } from '../../text/shown-text.js'
import styles from '../playground.module.css'
import { amplitudeRows, probabilityRows, SHOWN_FIRST } from './exact-rows.js'

export function Probabilities({ probabilities }: { probabilities: Readonly<Record<string, number>> }) {
  return (
    <ExactTable
      title="Exact probabilities"
      columns={['Outcome', 'Probability']}
      rows={probabilityRows(probabilities)}
    />
  )
}

export function Amplitudes(props: { amplitudes: readonly (readonly [re: number, im: number])[]; qubits: number }) {
  const rows = amplitudeRows(props.amplitudes, props.qubits)
  const zeros = props.amplitudes.length - rows.length
  return (
    <ExactTable
      title="Amplitudes before the last measurements"
      columns={['State', 'Amplitude', 'Probability']}
      rows={rows}
      note={zeros > 0 ? `${numbered(zeros, 'amplitude')} of 0 left out.` : null}
    />
  )
}

function ExactTable(props: {
  title: string
  columns: readonly string[]
  rows: readonly (readonly string[])[]
  note?: string | null
}) {
  const { title, columns, rows, note } = props
  const [isOpen, setOpen] = useState(false)
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? rows : rows.slice(0, SHOWN_FIRST)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {title} ({rows.length})
      </summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
        <section className={styles.tablePlace} aria-label={title} tabIndex={0}>
          <table className={styles.table}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map(([label, ...cells]) => (
                <tr key={label}>
                  <th scope="row">{clipped(label!, 300)}</th>
                  {cells.map((cell, column) => (
                    <td key={columns[column + 1]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          <p>Qubit 0 leftmost. {note}</p>
          {shown.length < rows.length && <Button onPress={() => setWhole(true)}>Show all {rows.length}</Button>}
        </section>
      )}
    </details>
  )
}
