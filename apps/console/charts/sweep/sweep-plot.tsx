// Draws the values of a sweep against one of its parameters, with a table of the same numbers.
import { useId, useMemo, useState } from 'react'
import type { SweepData } from '../../results/sweep.js'
import { numbered } from '../../text/exact-numbers.js'
import { clipped, shownText } from '../../text/shown-text.js'
import chart from '../chart.module.css'
import { useWidth } from '../use-width.js'
import { errorText, type PlacedSeries, POINTS_APART_MAX, sweepLayout, titleOf } from './sweep-layout.js'
import styles from './sweep-plot.module.css'

/** Around 0, 0; as many as there are series to be told apart. */
const shapes = [
  'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z',
  'M-3.5 -3.5h7v7h-7z',
  'M0 -4.5l4.5 8h-9z',
  'M0 -5l5 5l-5 5l-5 -5z',
  'M0 4.5l4.5 -8h-9z',
  'M-4 -1.5h2.5v-2.5h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5z'
]
const TABLE_ROWS_MAX = 200
const X_LABEL = 16

export function SweepPlot({ data, title }: { data: SweepData; title: string }) {
  const [place, width] = useWidth<HTMLElement>()
  const layout = useMemo(() => sweepLayout(data, width), [data, width])
  const id = useId()
  const [opened, setOpened] = useState(false)
  const { plot, xTicks, yTicks, series } = layout
  const bottom = plot.y + plot.height
  const isDense = series.reduce((sum, { points }) => sum + points.length, 0) > POINTS_APART_MAX
  return (
    <figure ref={place} className={chart.view}>
      <p className={chart.legend}>
        {series.map(({ name, style }) => (
          <span key={style}>
            <svg className={styles[`series${style}`]} width={14} height={14} viewBox="-7 -7 14 14" aria-hidden="true">
              <path className={styles.point} d={shapes[style]} />
            </svg>{' '}
            {name}
          </span>
        ))}
      </p>
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
        {yTicks.map(({ at, label }) => (
          <g key={at}>
            <line className={chart.grid} x1={plot.x} x2={plot.x + plot.width} y1={at} y2={at} />
            <text className={chart.tick} x={plot.x - 6} y={at} textAnchor="end">
              {label}
            </text>
          </g>
        ))}
        {xTicks.map(({ at, label }) => (
          <g key={at}>
            <line className={chart.grid} x1={at} x2={at} y1={plot.y} y2={bottom} />
            <text className={chart.tick} x={at} y={bottom + X_LABEL} textAnchor="middle">
              {label}
            </text>
          </g>
        ))}
        {series.map(({ name, style, points, path }) => (
          <g key={style} className={styles[`series${style}`]}>
            <path className={styles.line} d={path} />
            {isDense && <DensePoints points={points} shape={shapes[style]!} />}
            {(isDense ? [] : points).map(({ key, x, y, error, value }) => (
              <g key={key} transform={`translate(${x} ${y})`}>
                <title>{titleOf(value, name, data.parameter)}</title>
                {error && (
                  <path
                    className={styles.error}
                    d={`M0 ${error.from - y}V${error.to - y}M-3 ${error.from - y}h6M-3 ${error.to - y}h6`}
                  />
                )}
                <path className={styles.point} d={shapes[style]} />
              </g>
            ))}
          </g>
        ))}
      </svg>
      <figcaption className={chart.caption}>
        Against {clipped(data.parameter, 60)}. Bars: one standard error.
        {layout.seriesNotShown > 0 && ` ${numbered(layout.seriesNotShown, 'more observable')} not drawn.`}
        {layout.pointsNotShown > 0 && ` ${numbered(layout.pointsNotShown, 'value')} not drawn: not finite.`}
      </figcaption>
      <details className={chart.details} onToggle={({ currentTarget }) => setOpened(currentTarget.open)}>
        <summary>The same as a table</summary>
        {opened && <SweepTable data={data} />}
      </details>
    </figure>
  )
}

/** All marks of a series as two elements. */
function DensePoints({ points, shape }: { points: PlacedSeries['points']; shape: string }) {
  const [marks, errors] = useMemo(
    () => [
      // All in a shape is relative: `m` begins where it stands.
      points.map(({ x, y }) => `M${x} ${y}m${shape.slice(1)}`).join(''),
      points
        .flatMap(({ x, error }) => (error ? `M${x} ${error.from}V${error.to}m-3 0h6M${x} ${error.from}m-3 0h6` : []))
        .join('')
    ],
    [points, shape]
  )
  return (
    <>
      <path className={styles.error} d={errors} />
      <path className={styles.point} d={marks} />
    </>
  )
}

function SweepTable({ data: { parameter, series } }: { data: SweepData }) {
  const rows = series.flatMap(({ name, points }, at) => points.map((point, index) => ({ ...point, name, at, index })))
  return (
    <div className={chart.tablePlace}>
      <table className={chart.table}>
        <thead>
          <tr>
            <th scope="col">{clipped(parameter, 60)}</th>
            <th scope="col">Observable</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, TABLE_ROWS_MAX).map(({ x, y, error, name, at, index }) => (
            <tr key={`${at} ${index}`}>
              <th scope="row">{clipped(String(x), 60)}</th>
              <td>{clipped(name, 60)}</td>
              <td>
                {y}
                {errorText(error)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > TABLE_ROWS_MAX && <p>{numbered(rows.length - TABLE_ROWS_MAX, 'more row')} in the result.</p>}
    </div>
  )
}
