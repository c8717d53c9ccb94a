// The entries of a trail. Only the rows near the window are on the page: 100,000 entries cost as much as 50.
import { Link } from '@tanstack/react-router'
import { memo, useEffect } from 'react'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { shortId, Time } from '../components/text.js'
import type { SeenRows } from '../jobs/list/list-reader.js'
import { useRowWindow } from '../jobs/list/use-row-window.js'
import { clipped } from '../text/shown-text.js'
import styles from './audit.module.css'
import { actorText, stateText, type TrailEntry, trailActions } from './trail-texts.js'

/** In pixels; the style sheet has the same. */
const ROW = 64
const NAME_CELLS_MAX = 40

interface Props {
  entries: readonly TrailEntry[]
  names: Readonly<Record<string, string>>
  onSee: (rows: SeenRows) => void
  onOpen: (seq: number) => void
}

export function TrailTable({ entries, names, onSee, onOpen }: Props) {
  const [place, { from, to }] = useRowWindow<HTMLTableSectionElement>(entries.length, ROW)
  useEffect(() => onSee({ from, to }), [onSee, from, to])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section className={styles.scroll} aria-label="Trail" tabIndex={0}>
      <table className={styles.table} aria-rowcount={entries.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Entry</th>
            <th scope="col">Action</th>
            <th scope="col">Who</th>
            <th scope="col">Capsule</th>
            <th scope="col">When</th>
            <th scope="col">All of it</th>
          </tr>
        </thead>
        <tbody ref={place}>
          <Space rows={from} />
          {entries.slice(from, to).map((entry, at) => (
            <EntryRow
              key={entry.seq}
              entry={entry}
              who={actorText(entry.actor, names)}
              index={from + at + 2}
              onOpen={onOpen}
            />
          ))}
          <Space rows={entries.length - to} />
        </tbody>
      </table>
    </section>
  )
}

/** The place of rows that are not on the page. */
const Space = ({ rows }: { rows: number }) =>
  rows === 0 ? null : (
    <tr>
      <td colSpan={6} className={styles.space} style={{ height: rows * ROW }} />
    </tr>
  )

interface RowProps {
  entry: TrailEntry
  who: string
  index: number
  onOpen: (seq: number) => void
}

const EntryRow = memo(({ entry, who, index, onOpen }: RowProps) => (
  <tr aria-rowindex={index} className={styles.row}>
    <td>{entry.seq}</td>
    <td>
      {trailActions[entry.action] ?? entry.action} <code>{entry.action}</code>
      <div className={layout.quiet}>{stateText(entry)}</div>
    </td>
    <td title={entry.actor}>{clipped(who, NAME_CELLS_MAX)}</td>
    <td>
      {entry.capsule_id === null ? (
        '–'
      ) : (
        <Link
          to="/audit"
          search={({ team }) => ({ ...(team && { team }), capsule: entry.capsule_id! })}
          title={entry.capsule_id}
          preload={false}
        >
          {shortId(entry.capsule_id)}
        </Link>
      )}
    </td>
    <td>
      <Time at={entry.at} />
    </td>
    <td>
      <Button aria-label={`Open entry ${entry.seq}`} onPress={() => onOpen(entry.seq)}>
        Open
      </Button>
    </td>
  </tr>
))
