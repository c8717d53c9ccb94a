// The rows of the list of scripts.
import { Link } from '@tanstack/react-router'
import { memo, useCallback } from 'react'
import type { Team } from '../../api/client.js'
import { Time } from '../../components/text.js'
import type { SeenRows } from '../../components/windowed/use-row-window.js'
import { Line, QuietLine, WindowedRow, WindowedTable } from '../../components/windowed/windowed-table.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import type { ScriptItem } from '../script-queries.js'

const columns = [
  { head: 'Script' },
  { head: 'Of', width: '10rem' },
  { head: 'Framework', width: '8rem' },
  { head: 'Version', width: '6rem' },
  { head: 'Jobs', width: '6rem' },
  { head: 'Created', width: '13rem' }
]

/** @param onEnd the last row has come near the window. */
export function ScriptTable(props: {
  scripts: readonly ScriptItem[]
  total: number
  teams: readonly Team[]
  onEnd: () => void
}) {
  const { scripts, total, teams, onEnd } = props
  const count = scripts.length
  const see = useCallback(
    ({ to }: SeenRows) => {
      if (to >= count) onEnd()
    },
    [count, onEnd]
  )
  return (
    <WindowedTable
      columns={columns}
      rows={scripts}
      total={total}
      row={(script, index) => <ScriptRow key={script.id} script={script} of={ofText(script, teams)} index={index} />}
      onSee={see}
    />
  )
}

const ScriptRow = memo(({ script, of, index }: { script: ScriptItem; of: string; index: number }) => (
  <WindowedRow index={index}>
    <td>
      <Line text={script.name}>
        <Link to="/scripts/$id" params={{ id: script.id }} preload={false}>
          {script.name}
        </Link>
      </Line>
      <QuietLine text={script.description} />
    </td>
    <td>
      <Line text={of} />
      <QuietLine text={script.is_public && !script.is_hardcoded ? 'published' : ''} />
    </td>
    <td>
      <Line text={script.framework} />
      <QuietLine text={script.script_type} />
    </td>
    <td>{script.version}</td>
    <td>{groupedDigits(script.executions_count)}</td>
    <td>
      <Time at={script.created_at} />
    </td>
  </WindowedRow>
))

/** Of another team only its members know the name. */
export function ofText(script: Pick<ScriptItem, 'is_hardcoded' | 'team_id'>, teams: readonly Team[]): string {
  if (script.is_hardcoded) return 'the platform'
  return teams.find(({ id }) => id === script.team_id)?.name ?? 'another team'
}
