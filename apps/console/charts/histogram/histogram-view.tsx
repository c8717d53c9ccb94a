// A histogram with its switches: what it is sorted by, how many outcomes it shows, its axis and the order of its bits.
import { useId, useMemo, useState } from 'react'
import { numbered } from '../../text/exact-numbers.js'
import { clipped, shownText } from '../../text/shown-text.js'
import chart from '../chart.module.css'
import { useWidth } from '../use-width.js'
import { HistogramPicture, HistogramTable } from './histogram.js'
import styles from './histogram.module.css'
import { type HistogramData, histogramBars, histogramLayout } from './histogram-layout.js'
import { canTurn, orderText } from './outcome-label.js'

const tops = [10, 20, 50, 100, 200] as const

/** @param note what else has to be known of the counts. */
export function HistogramView({
  data,
  title,
  note = null
}: {
  data: HistogramData
  title: string
  note?: string | null
}) {
  const [place, width] = useWidth<HTMLElement>()
  const [sort, setSort] = useState<'count' | 'outcome'>('count')
  const [top, setTop] = useState<number>(20)
  const [axis, setAxis] = useState<'linear' | 'logarithmic'>('linear')
  const [wantsTurned, setWantsTurned] = useState(false)
  const turnable = useMemo(
    () =>
      data.sets.every(({ counts }) =>
        canTurn(
          data,
          counts.outcomes.map(({ outcome }) => outcome)
        )
      ),
    [data]
  )
  const turned = turnable && wantsTurned
  const bars = useMemo(() => histogramBars(data, { top, sort, turned }), [data, top, sort, turned])
  const layout = useMemo(() => histogramLayout(data, bars, { width, axis, turned }), [data, bars, width, axis, turned])
  const id = useId()
  return (
    <figure ref={place} className={chart.view}>
      <div className={styles.switches}>
        <label htmlFor={`${id}-sort`}>
          Sort by{' '}
          <select id={`${id}-sort`} value={sort} onChange={(event) => setSort(event.target.value as typeof sort)}>
            <option value="count">count</option>
            <option value="outcome">outcome</option>
          </select>
        </label>
        <label htmlFor={`${id}-top`}>
          Show{' '}
          <select id={`${id}-top`} value={top} onChange={(event) => setTop(Number(event.target.value))}>
            {tops.map((most) => (
              <option key={most} value={most}>
                {most} outcomes
              </option>
            ))}
          </select>
        </label>
        <label htmlFor={`${id}-axis`}>
          Axis{' '}
          <select id={`${id}-axis`} value={axis} onChange={(event) => setAxis(event.target.value as typeof axis)}>
            <option value="linear">linear</option>
            <option value="logarithmic">logarithmic</option>
          </select>
        </label>
        {turnable && (
          <label htmlFor={`${id}-order`}>
            <input
              id={`${id}-order`}
              type="checkbox"
              checked={turned}
              onChange={(event) => setWantsTurned(event.target.checked)}
            />{' '}
            As Qiskit prints it
          </label>
        )}
      </div>
      {data.sets.length > 1 && (
        <p className={chart.legend}>
          {data.sets
            .map((one, set) => ({ ...one, set }))
            .map(({ name, counts, set }) => (
              <span key={set}>
                <svg width={12} height={12} aria-hidden="true">
                  <rect className={set === 0 ? styles.barA : styles.barB} width={12} height={12} />
                </svg>{' '}
                {clipped(name, 60)}, {numbered(counts.total, 'shot')}
              </span>
            ))}
        </p>
      )}
      <HistogramPicture layout={layout} title={title} />
      <figcaption className={chart.caption}>
        {orderText(data, turned)} Lines on the bars: 95 % Wilson interval.
        {axis === 'logarithmic' && ' Logarithmic axis.'}
        {layout.rows.some(({ bars }) => bars.some(({ isCut }) => isCut)) &&
          ' The bar of the rest is longer than the axis.'}
        {note !== null && ` ${shownText(note)}`}
      </figcaption>
      <details className={chart.details}>
        <summary>The same as a table</summary>
        <HistogramTable data={data} bars={bars} turned={turned} />
      </details>
    </figure>
  )
}
