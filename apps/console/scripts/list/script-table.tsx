// The rows of the list of scripts. Only those near the window are on the page.
import { Link } from '@tanstack/react-router'
import { memo, useEffect } from 'react'
import type { Team } from '../../api/client.js'
import { Time } from '../../components/text.js'
import { useRowWindow } from '../../jobs/list/use-row-window.js'
import { groupedDigits } from '../../text/exact-numbers.js'
import type { ScriptItem } from '../script-queries.js'
import styles from './script-table.module.css'

/** In pixels; the style sheet has the same. */
const ROW = 64
const COLUMNS = 6

/** @param onEnd the last row has come near the window. */
export function ScriptTable(props: {
  scripts: readonly ScriptItem[]
  total: number
  teams: readonly Team[]
  onEnd: () => void
}) {
  const { scripts, total, teams, onEnd } = props
  const [place, { from, to }] = useRowWindow<HTMLTableSectionElement>(scripts.length, ROW)
  useEffect(() => {
    if (to >= scripts.length) onEnd()
  }, [onEnd, to, scripts.length])
  return (
    <div className={styles.scroll}>
      <table className={styles.table} aria-rowcount={Math.max(total, scripts.length) + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Script</th>
            <th scope="col">Of</th>
            <th scope="col">Framework</th>
            <th scope="col">Version</th>
            <th scope="col">Jobs</th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody ref={place}>
          <Space rows={from} />
          {scripts.slice(from, to).map((script, at) => (
            <ScriptRow key={script.id} script={script} of={ofText(script, teams)} index={from + at + 2} />
          ))}
          <Space rows={scripts.length - to} />
        </tbody>
      </table>
    </div>
  )
}

/** The place of rows that are not on the page. */
const Space = ({ rows }: { rows: number }) =>
  rows === 0 ? null : (
    <tr>
      <td colSpan={COLUMNS} className={styles.space} style={{ height: rows * ROW }} />
    </tr>
  )

const ScriptRow = memo(({ script, of, index }: { script: ScriptItem; of: string; index: number }) => (
  <tr aria-rowindex={index} className={styles.row}>
    <td>
      <div className={styles.line} title={script.name}>
        <Link to="/scripts/$id" params={{ id: script.id }} preload={false}>
          {script.name}
        </Link>
      </div>
      <div className={`${styles.line} ${styles.quiet}`} title={script.description}>
        {script.description}
      </div>
    </td>
    <td>
      <div className={styles.line} title={of}>
        {of}
      </div>
      <div className={`${styles.line} ${styles.quiet}`}>
        {script.is_public && !script.is_hardcoded ? 'published' : ''}
      </div>
    </td>
    <td>
      <div className={styles.line}>{script.framework}</div>
      <div className={`${styles.line} ${styles.quiet}`}>{script.script_type}</div>
    </td>
    <td>{script.version}</td>
    <td>{groupedDigits(script.executions_count)}</td>
    <td>
      <Time at={script.created_at} />
    </td>
  </tr>
))

/** Of another team only its members know the name. */
export function ofText(script: Pick<ScriptItem, 'is_hardcoded' | 'team_id'>, teams: readonly Team[]): string {
  if (script.is_hardcoded) return 'the platform'
  return teams.find(({ id }) => id === script.team_id)?.name ?? 'another team'
}
