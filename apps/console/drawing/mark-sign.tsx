// The sign of one gate, measurement, reset or barrier.
import styles from './circuit-drawing.module.css'
import type { DrawnMark } from './drawn-page.js'
import { BOX_HEIGHT } from './grid.js'

const HALF = BOX_HEIGHT / 2
const RADIUS = 9
const DOT = 4
const CROSS = 5

export function MarkSign({ mark }: { mark: DrawnMark }) {
  const { x } = mark
  switch (mark.kind) {
    case 'measure':
      return (
        <>
          <path
            className={styles.classicalWire}
            d={`M${x - 1.5} ${mark.y}V${mark.toY - 6}M${x + 1.5} ${mark.y}V${mark.toY - 6}`}
          />
          <path className={styles.arrow} d={`M${x} ${mark.toY - 1}l-5 -7h10z`} />
          {mark.bit !== null && (
            <text className={styles.bits} x={x + 7} y={mark.toY - 9}>
              {mark.bit}
            </text>
          )}
          <rect className={styles.box} x={x - 15} y={mark.y - HALF} width={30} height={BOX_HEIGHT} rx={2} />
          <path className={styles.stroke} d={`M${x - 9} ${mark.y + 5}a9 9 0 0 1 18 0M${x} ${mark.y + 5}l7 -11`} />
        </>
      )
    case 'reset':
      return (
        <>
          <rect className={styles.box} x={x - 15} y={mark.y - HALF} width={30} height={BOX_HEIGHT} rx={2} />
          <text className={styles.label} x={x} y={mark.y} textAnchor="middle">
            |0⟩
          </text>
        </>
      )
    case 'barrier':
      return (
        <>
          {mark.ys.map((y) => (
            <g key={y}>
              <rect className={styles.barrierPlace} x={x - 8} y={y - 21} width={16} height={42} />
              <line className={styles.barrier} x1={x} x2={x} y1={y - 21} y2={y + 21} />
            </g>
          ))}
        </>
      )
    case 'gate':
      return <GateSign mark={mark} />
  }
}

function GateSign({
  mark: { x, sign, label, box, ports, targets, controls, line }
}: {
  mark: DrawnMark & { kind: 'gate' }
}) {
  return (
    <>
      {line && <line className={styles.stroke} x1={x} x2={x} y1={line.from} y2={line.to} />}
      {controls.map(({ y, isFilled }) => (
        <circle key={y} className={isFilled ? styles.dot : styles.openDot} cx={x} cy={y} r={DOT} />
      ))}
      {box && (
        <>
          <rect
            className={styles.box}
            x={x - box.halfWidth}
            y={box.top}
            width={2 * box.halfWidth}
            height={box.bottom - box.top}
            rx={2}
          />
          <text className={styles.label} x={x} y={(box.top + box.bottom) / 2} textAnchor="middle">
            {label}
          </text>
          {ports.map(({ y, text }) => (
            <text key={y} className={styles.port} x={x - box.halfWidth + 4} y={y}>
              {text}
            </text>
          ))}
        </>
      )}
      {sign !== 'box' && targets.map((y) => <TargetSign key={y} sign={sign} x={x} y={y} />)}
    </>
  )
}

function TargetSign({ sign, x, y }: { sign: 'x' | 'z' | 'swap'; x: number; y: number }) {
  if (sign === 'z') return <circle className={styles.dot} cx={x} cy={y} r={DOT} />
  if (sign === 'swap')
    return (
      <>
        <circle className={styles.place} cx={x} cy={y} r={RADIUS} />
        <path className={styles.cross} d={`M${x - CROSS} ${y - CROSS}l10 10M${x - CROSS} ${y + CROSS}l10 -10`} />
      </>
    )
  return (
    <>
      <circle className={styles.box} cx={x} cy={y} r={RADIUS} />
      <path className={styles.stroke} d={`M${x - RADIUS} ${y}h${2 * RADIUS}M${x} ${y - RADIUS}v${2 * RADIUS}`} />
    </>
  )
}
