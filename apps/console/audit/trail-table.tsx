// The entries of a trail.
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { Button } from '../components/button.js'
import { shortId, Time } from '../components/text.js'
import type { SeenRows } from '../components/windowed/use-row-window.js'
import { QuietLine, WindowedRow, WindowedTable } from '../components/windowed/windowed-table.js'
import { clipped } from '../text/shown-text.js'
import { actorText, stateText, type TrailEntry, trailActions } from './trail-texts.js'

const NAME_CELLS_MAX = 40
const columns = [
  { head: 'Entry', width: '6rem' },
  { head: 'Action' },
  { head: 'Who' },
  { head: 'Capsule', width: '9rem' },
  { head: 'When', width: '14.5rem' },
  { head: 'All of it', width: '7rem' }
]

export const TrailTable = (props: {
  entries: readonly TrailEntry[]
  names: Readonly<Record<string, string>>
  onSee: (rows: SeenRows) => void
  onOpen: (seq: number) => void
}) => (
  <WindowedTable
    columns={columns}
    rows={props.entries}
    total={props.entries.length}
    row={(entry, index) => (
      <EntryRow
        key={entry.seq}
        entry={entry}
        who={actorText(entry.actor, props.names)}
        index={index}
        onOpen={props.onOpen}
      />
    )}
    onSee={props.onSee}
  />
)

interface RowProps {
  entry: TrailEntry
  who: string
  index: number
  onOpen: (seq: number) => void
}

const EntryRow = memo(({ entry, who, index, onOpen }: RowProps) => (
  <WindowedRow index={index}>
    <td>{entry.seq}</td>
    <td>
      {trailActions[entry.action] ?? entry.action} <code>{entry.action}</code>
      <QuietLine text={stateText(entry)} />
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
  </WindowedRow>
))
