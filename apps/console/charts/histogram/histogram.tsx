// Draws a histogram, with a table of the same numbers for those who do not see it.
import { useId } from 'react'
import { groupedDigits, numbered, percentText } from '../../text/exact-numbers.js'
import { clipped, shownText } from '../../text/shown-text.js'
import chart from '../chart.module.css'
import type { Bar, BarSelection } from './bars.js'
import styles from './histogram.module.css'
import { type HistogramData, type HistogramLayout, intervalText, restLabel } from './histogram-layout.js'
import { outcomeParts } from './outcome-label.js'

const TICK_LABEL = 16

export function HistogramPicture({ layout, title }: { layout: HistogramLayout; title: string }) {
  const id = useId()
  const { width, height, plot, ticks, rows } = layout
  return (
    <svg
      className={`${chart.picture} ${styles.picture}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
    >
      <title id={`${id}-title`}>{shownText(title)}</title>
      <desc id={`${id}-text`}>{layout.description}</desc>
      {ticks.map(({ at, label }, tick) => (
        <g key={label}>
          <line className={chart.grid} x1={at} x2={at} y1={0} y2={plot.height} />
          <text className={chart.tick} x={at} y={plot.height + TICK_LABEL} textAnchor={tick === 0 ? 'start' : 'middle'}>
            {label}
          </text>
        </g>
      ))}
      {rows.map((row) => (
        <g key={row.key} className={row.isRest ? styles.rest : undefined}>
          <title>{row.title}</title>
          <rect className={styles.row} x={0} y={row.y} width={width} height={row.height} />
          {row.label.map(({ x, y, text, part }) => (
            <text key={y + x} className={part % 2 ? styles.otherPart : styles.part} x={x} y={y} textAnchor="end">
              {text}
            </text>
          ))}
          {row.bars.map(({ set, isCut, interval, value, ...bar }) => (
            <g key={set}>
              <rect className={set === 0 ? styles.barA : styles.barB} {...bar} />
              {isCut && (
                <path
                  className={styles.cut}
                  d={`M${bar.x + bar.width - 12} ${bar.y + bar.height}l6 ${-bar.height}m4 0l-6 ${bar.height}`}
                />
              )}
              {interval && (
                <path
                  className={styles.interval}
                  d={`M${interval.from} ${interval.y}H${interval.to}M${interval.from} ${interval.y - 3}v6M${interval.to} ${interval.y - 3}v6`}
                />
              )}
              <text className={styles.value} x={value.x} y={value.y} textAnchor="end">
                {value.text}
              </text>
            </g>
          ))}
        </g>
      ))}
    </svg>
  )
}

/** The rows of the picture in numbers. */
export function HistogramTable({
  data,
  bars: selection,
  turned
}: {
  data: HistogramData
  bars: BarSelection
  turned: boolean
}) {
  const { rows, rest } = selection
  // Two runs can have the same name.
  const sets = data.sets.map((one, set) => ({ ...one, set }))
  const all = [
    ...rows.map(({ outcome, bars }) => ({ outcome, bars })),
    ...(rest ? [{ outcome: null, bars: rest.bars }] : [])
  ]
  return (
    <div className={chart.tablePlace}>
      <table className={chart.table}>
        <thead>
          <tr>
            <th scope="col">Outcome</th>
            {sets.map(({ name, counts, set }) => (
              <th key={set} scope="col">
                {clipped(name, 40)} ({numbered(counts.total, 'shot')})
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.map(({ outcome, bars }) => (
            <tr key={outcome === null ? 'rest' : `=${outcome}`}>
              <th scope="row">
                {outcome === null
                  ? restLabel(selection)
                  : outcomeParts(outcome, data.registers, turned)
                      .map((part) => clipped(part, 1_000))
                      .join(' ')}
              </th>
              {sets.map(({ counts, set }) => (
                <td key={set}>{cellText(bars[set]!, counts.total)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cellText({ count, interval }: Bar, total: bigint): string {
  if (count === null) return 'not read'
  const range = interval ? `; 95 %: ${intervalText(interval)}` : ''
  return `${groupedDigits(count)} (${percentText(count, total)}${range})`
}
