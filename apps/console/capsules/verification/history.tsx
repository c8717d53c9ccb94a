import { useId, useMemo, useState } from 'react'
import chart from '../../charts/chart.module.css'
import { useWidth } from '../../charts/use-width.js'
import { VerdictBadge } from '../badges.js'
import { distanceText, wordsOf } from '../words.js'
import styles from './distance.module.css'
import { type Drift, historyLayout, type PastPoint } from './history-layout.js'

/** The verdicts of a page of verifications, and their distances over time. @param past at most a few hundred. */
export function History({ past, drift }: { past: readonly PastPoint[]; drift: Drift | null }) {
  const [place, width] = useWidth<HTMLElement>()
  const layout = useMemo(() => historyLayout(past, drift, width), [past, drift, width])
  const id = useId()
  const { plot, strip, points, description, xTicks, yTicks } = layout
  const bottom = plot.y + plot.height
  return (
    <figure ref={place} className={chart.view}>
      <p className={chart.legend}>
        {strip.map(({ verdict }) => (
          <VerdictBadge key={verdict} verdict={verdict} />
        ))}
        <span>dashed: margin; lines upwards: bounds; circled: alert; squared: confirmation</span>
      </p>
      <svg
        className={chart.picture}
        width={width}
        height={layout.height}
        viewBox={`0 0 ${width} ${layout.height}`}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
      >
        <title id={`${id}-title`}>Verdicts, and distances from the sealed counts over time</title>
        <desc id={`${id}-text`}>{description}</desc>
        {strip.map(({ verdict, path }) => (
          <path key={verdict} className={styles[verdict]} d={path} />
        ))}
        {yTicks.map(({ at, label }) => (
          <g key={label}>
            <line className={chart.grid} x1={plot.x} x2={plot.x + plot.width} y1={at} y2={at} />
            <text className={chart.tick} x={plot.x - 6} y={at} textAnchor="end">
              {label}
            </text>
          </g>
        ))}
        {xTicks.map(({ at, label }) => (
          <text key={at} className={chart.tick} x={at} y={bottom + 14} textAnchor="middle">
            {label}
          </text>
        ))}
        <path className={styles.bounds} d={layout.bounds} />
        <path className={styles.margin} fill="none" d={layout.margin} />
        {points.map(({ verdict, path }) => (
          <path key={verdict} className={styles[verdict]} d={path} />
        ))}
        <path className={styles.alert} d={layout.alerts} />
        <path className={styles.bound} d={layout.confirmations} />
        {layout.drift ? <line className={styles.drift} {...layout.drift} /> : null}
      </svg>
      <figcaption className={chart.caption}>{description}</figcaption>
      <HistoryTable past={past} />
    </figure>
  )
}

/** Written only when it is opened. */
function HistoryTable({ past }: { past: readonly PastPoint[] }) {
  const [open, setOpen] = useState(false)
  return (
    <details className={chart.details} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as a table</summary>
      {open ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        <section className={chart.tablePlace} tabIndex={0} aria-label="Verifications">
          <table className={chart.table}>
            <thead>
              <tr>
                {['When', 'Verdict', 'Distance', 'At most', 'Margin', 'Why it ran', 'Alert'].map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {past.map((point, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two can have ended at the same time
                <tr key={at}>
                  <th scope="row">{point.completed_at}</th>
                  <td>{wordsOf(point.verdict)}</td>
                  <td>{distanceText(point.tvd)}</td>
                  <td>{distanceText(point.tvd_upper)}</td>
                  <td>{distanceText(point.margin)}</td>
                  <td>{point.trigger ?? '–'}</td>
                  <td>{point.alerted_at ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
    </details>
  )
}
