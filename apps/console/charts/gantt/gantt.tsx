// Draws a task graph on a time axis. Rows outside of the window are not drawn, and a graph whose tasks change all the
// time is drawn anew four times a second.
import { useId, useMemo, useState } from 'react'
import { shownText } from '../../text/shown-text.js'
import chart from '../chart.module.css'
import { stateClass } from '../state-class.js'
import { useAtMostEvery } from '../use-at-most-every.js'
import { useWidth } from '../use-width.js'
import styles from './gantt.module.css'
import { type GanttData, type GanttRow, ganttLayout, ROW } from './gantt-layout.js'
import { ROWS_MAX } from './task-rows.js'

const REDRAW_MS = 250
/** As much of the rows as is seen at once; the style sheet has the same height. */
const WINDOW_HEIGHT = 480
const MIDDLE = ROW / 2
const AXIS = 22

/** @param data must be the same object as long as nothing has changed. */
export function Gantt({ data: newest, now, title }: { data: GanttData; now: number; title: string }) {
  const data = useAtMostEvery(newest, REDRAW_MS)
  const [place, width] = useWidth<HTMLDivElement>()
  const [all, setAll] = useState(false)
  const [top, setTop] = useState(0)
  const [pointed, setPointed] = useState<string | null>(null)
  const id = useId()
  const layout = useMemo(
    () => ganttLayout(data, { width, now, all, top, height: WINDOW_HEIGHT, pointed }),
    [data, width, now, all, top, pointed]
  )
  const { ticks } = layout
  return (
    <section className={chart.view} aria-labelledby={`${id}-title`}>
      <h3 id={`${id}-title`} className={styles.title}>
        {shownText(title)}
      </h3>
      <p className={chart.caption}>
        {layout.counts}. {layout.caption}
      </p>
      <div ref={place} className={styles.axis}>
        <svg className={`${chart.picture} ${styles.picture}`} width={width} height={AXIS} aria-hidden="true">
          {ticks.map(({ x, after, label, anchor }) => (
            <text key={after} className={chart.tick} x={x} y={MIDDLE} textAnchor={anchor}>
              {label}
            </text>
          ))}
        </svg>
      </div>
      <section
        className={styles.window}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        tabIndex={0}
        aria-label={`${shownText(title)}: rows`}
        onScroll={(event) => setTop(Math.floor(event.currentTarget.scrollTop / ROW) * ROW)}
        onPointerLeave={() => setPointed(null)}
      >
        <svg className={`${chart.picture} ${styles.picture}`} width={width} height={layout.height}>
          <title>{layout.counts}</title>
          {ticks.map(({ x, after }) => (
            <line key={after} className={chart.grid} x1={x} x2={x} y1={0} y2={layout.height} />
          ))}
          {layout.rows.map((row) => (
            <Row key={row.key} row={row} layout={layout} width={width} onPoint={setPointed} />
          ))}
          {layout.links.map((path) => (
            <path key={path} className={styles.link} d={path} />
          ))}
        </svg>
      </section>
      {data.tasks.length > ROWS_MAX && (
        <button type="button" className={styles.more} onClick={() => setAll(!all)}>
          {all ? 'Show failed, running and slowest tasks' : `Show the other ${layout.notShown} tasks too`}
        </button>
      )}
    </section>
  )
}

function Row({
  row,
  layout: { stateX, lastedX },
  width,
  onPoint
}: {
  row: GanttRow
  layout: { stateX: number; lastedX: number | null }
  width: number
  onPoint: (id: string) => void
}) {
  const middle = row.y + MIDDLE
  if (row.kind === 'heading')
    return (
      <text className={styles.heading} x={0} y={middle}>
        {row.text}
      </text>
    )
  return (
    <g onPointerEnter={() => onPoint(row.id)}>
      <title>{row.title}</title>
      <rect className={row.relation ? styles[row.relation] : styles.row} x={0} y={row.y} width={width} height={ROW} />
      <text className={row.isCritical ? styles.critical : styles.label} x={0} y={middle}>
        {row.label}
      </text>
      <text className={styles.state} x={stateX} y={middle}>
        {row.state}
      </text>
      {lastedX !== null && (
        <text className={styles.lasted} x={lastedX} y={middle} textAnchor="end">
          {row.lasted}
        </text>
      )}
      {row.line && (
        <line className={styles.pause} x1={row.line.x} x2={row.line.x + row.line.width} y1={middle} y2={middle} />
      )}
      {row.bars.map((bar) => (
        <rect
          key={bar.key}
          className={chart[stateClass(bar.state)]}
          x={bar.x}
          y={row.y + 6}
          width={bar.width}
          height={ROW - 12}
          rx={1.5}
        />
      ))}
      {row.isCritical && row.line && (
        <rect className={styles.criticalLine} x={row.line.x} y={row.y + ROW - 5} width={row.line.width} height={1.5} />
      )}
    </g>
  )
}
