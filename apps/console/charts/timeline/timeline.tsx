// Draws the timeline of a job: its statuses and its attempts. Each row's text holds what its bar shows.
import { useId, useMemo } from 'react'
import { numbered } from '../../text/exact-numbers.js'
import { shownText } from '../../text/shown-text.js'
import chart from '../chart.module.css'
import { stateClass } from '../state-class.js'
import { useWidth } from '../use-width.js'
import styles from './timeline.module.css'
import { type TimelineData, timelineLayout } from './timeline-layout.js'

const ROW_MIDDLE = 12
const BAR = { y: 6, height: 12 }
const TICK_LABEL = 14

export function Timeline({ data, now, title }: { data: TimelineData; now: number; title: string }) {
  const [place, width] = useWidth<HTMLElement>()
  const id = useId()
  // A job that is over looks alike at any time.
  const until = data.isOver ? 0 : now
  const layout = useMemo(() => timelineLayout(data, { width, now: until }), [data, width, until])
  const { plot, ticks, rows } = layout
  return (
    <figure ref={place} className={chart.view}>
      <svg
        className={`${chart.picture} ${styles.picture}`}
        width={width}
        height={layout.height}
        viewBox={`0 0 ${width} ${layout.height}`}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
      >
        <title id={`${id}-title`}>{shownText(title)}</title>
        <desc id={`${id}-text`}>{layout.description}</desc>
        {ticks.map(({ x, after, label }) => (
          <g key={after}>
            <line className={chart.grid} x1={x} x2={x} y1={0} y2={plot.height} />
            <text
              className={chart.tick}
              x={x}
              y={plot.height + TICK_LABEL}
              textAnchor={after === 0 ? 'start' : 'middle'}
            >
              {label}
            </text>
          </g>
        ))}
        {rows.map(({ kind, state, label, y, bar, moment, pause, value, title: rowTitle }) => (
          <g key={y}>
            <title>{rowTitle}</title>
            <text
              className={kind === 'status' ? styles.label : styles.subLabel}
              x={plot.x - 8}
              y={y + ROW_MIDDLE}
              textAnchor="end"
            >
              {label}
            </text>
            {bar && (
              <rect
                className={chart[stateClass(state)]}
                x={bar.x}
                y={y + BAR.y}
                width={bar.width}
                height={BAR.height}
                rx={2}
              />
            )}
            {pause && (
              <line
                className={styles.pause}
                x1={pause.x}
                x2={pause.x + pause.width}
                y1={y + ROW_MIDDLE}
                y2={y + ROW_MIDDLE}
              />
            )}
            {moment && (
              <path className={chart[stateClass(state)]} d={`M${moment.x} ${y + ROW_MIDDLE - 6}l6 6l-6 6l-6 -6z`} />
            )}
            <text className={styles.value} x={value.x} y={y + ROW_MIDDLE} textAnchor="end">
              {value.text}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className={chart.caption}>
        {layout.caption}
        {layout.attemptsNotShown > 0 && ` ${numbered(layout.attemptsNotShown, 'earlier attempt')} not drawn.`}
      </figcaption>
    </figure>
  )
}
