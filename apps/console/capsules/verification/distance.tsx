import { useId, useMemo } from 'react'
import chart from '../../charts/chart.module.css'
import { useWidth } from '../../charts/use-width.js'
import styles from './distance.module.css'
import { type Distances, distanceLayout } from './distance-layout.js'

const [LEFT, RIGHT, HEIGHT, MIDDLE] = [12, 36, 64, 20]

/** Distance, bound and margin on one axis. */
export function Distance({ distances, title }: { distances: Distances; title: string }) {
  const [place, width] = useWidth<HTMLElement>()
  const layout = useMemo(() => distanceLayout(distances, Math.max(80, width - LEFT - RIGHT)), [distances, width])
  const id = useId()
  const { axis, margin, observed, upper, byChance, description } = layout
  return (
    <figure ref={place} className={chart.view}>
      <svg
        className={chart.picture}
        width={width}
        height={HEIGHT}
        viewBox={`${-LEFT} 0 ${width} ${HEIGHT}`}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
      >
        <title id={`${id}-title`}>{title}</title>
        <desc id={`${id}-text`}>{description}</desc>
        {axis.ticks.map(({ at, label }) => (
          <g key={at}>
            <line className={chart.grid} x1={at} x2={at} y1={4} y2={HEIGHT - 20} />
            <text className={chart.tick} x={at} y={HEIGHT - 10} textAnchor="middle">
              {label}
            </text>
          </g>
        ))}
        <line className={styles.margin} x1={margin} x2={margin} y1={2} y2={HEIGHT - 20} />
        {observed !== null && upper !== null ? (
          <path className={styles.bound} d={`M${observed} ${MIDDLE}H${upper}M${upper} ${MIDDLE - 6}v12`} />
        ) : null}
        {byChance === null ? null : <path className={styles.chance} d={`M${byChance} ${MIDDLE + 6}l4 8h-8z`} />}
        {observed === null ? null : <circle className={styles.observed} cx={observed} cy={MIDDLE} r={5} />}
      </svg>
      <figcaption className={chart.caption}>{description}</figcaption>
    </figure>
  )
}
