// Draws a circuit beside its program: a gate that is pointed at, or reached by the keyboard, reports its place in the
// text, and the gates of the selected line are lit.
import { type KeyboardEvent, memo, useEffect, useId, useMemo, useRef, useState } from 'react'
import type { Circuit, Position } from '../circuit/circuit.js'
import styles from './circuit-drawing.module.css'
import { type Drawing, drawCircuit } from './drawing-layout.js'
import { type DrawingPage, drawingPages, pageOfLine } from './drawing-pages.js'
import { type DrawnFrame, type DrawnMark, drawnPage } from './drawn-page.js'
import { MarkSign } from './mark-sign.js'

export interface CircuitDrawingProps {
  circuit: Circuit
  /** The line of the program whose gates are lit. */
  selectedLine: number | null
  /** A gate is pointed at or has the focus; `null` when none is. */
  onPoint?: (position: Position | null) => void
  /** A gate is pressed. */
  onChoose?: (position: Position) => void
}

export function CircuitDrawing({ circuit, selectedLine, onPoint, onChoose }: CircuitDrawingProps) {
  const drawing = useMemo(() => drawCircuit(circuit), [circuit])
  const pages = useMemo(() => drawingPages(drawing), [drawing])
  const [chosenPage, setPage] = useState(0)
  const pageNumber = Math.min(chosenPage, pages.length - 1)
  const page = pages[pageNumber]!
  const id = useId()
  useEffect(() => {
    const found = selectedLine === null ? null : pageOfLine(drawing, pages, selectedLine)
    if (found !== null) setPage(found)
  }, [drawing, pages, selectedLine])
  const total = drawing.columns.count
  return (
    <figure className={styles.view} aria-labelledby={`${id}-text`}>
      <div className={styles.sheet}>
        <WireLabels drawing={drawing} />
        <Page
          key={pageNumber}
          drawing={drawing}
          page={page}
          selectedLine={selectedLine}
          onPoint={onPoint}
          onChoose={onChoose}
        />
      </div>
      {pages.length > 1 && (
        <div className={styles.pages}>
          <button type="button" disabled={pageNumber === 0} onClick={() => setPage(pageNumber - 1)}>
            Earlier columns
          </button>
          <span role="status">
            Columns {page.begin + 1} to {page.end} of {total}
          </span>
          <button type="button" disabled={pageNumber === pages.length - 1} onClick={() => setPage(pageNumber + 1)}>
            Later columns
          </button>
        </div>
      )}
      <figcaption id={`${id}-text`} className={styles.caption}>
        {drawing.description}
      </figcaption>
    </figure>
  )
}

/** The names of the wires, which stay in place while the gates are scrolled. */
const WireLabels = memo(({ drawing: { wires, labelWidth, grid } }: { drawing: Drawing }) => (
  <svg className={styles.labels} width={labelWidth} height={grid.height} aria-hidden="true">
    {wires.map(({ y, label, title, kind }) => (
      <text
        key={y}
        className={kind === 'qubit' ? styles.qubitName : styles.bitName}
        x={labelWidth - 8}
        y={y}
        textAnchor="end"
      >
        <title>{title}</title>
        {label}
      </text>
    ))}
  </svg>
))

interface PageProps extends Omit<CircuitDrawingProps, 'circuit'> {
  drawing: Drawing
  page: DrawingPage
}

function Page({ drawing, page, selectedLine, onPoint, onChoose }: PageProps) {
  const content = useMemo(() => drawnPage(drawing, page), [drawing, page])
  const [reached, setReached] = useState(0)
  const place = useRef<SVGSVGElement>(null)
  const { x, width, marks, frames } = content
  /** The arrow keys walk through the gates, of which the tab key reaches one. */
  const walk = (event: KeyboardEvent, at: number) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: marks.length - 1 }[event.key]
    if (to === undefined || to < 0 || to >= marks.length) return
    event.preventDefault()
    setReached(to)
    place.current?.querySelectorAll<SVGGElement>('[data-mark]')[to]?.focus()
  }
  return (
    <div className={styles.scroll}>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing can only be a group by its role */}
      <svg
        ref={place}
        className={styles.picture}
        width={width}
        height={drawing.grid.height}
        viewBox={`${x} 0 ${width} ${drawing.grid.height}`}
        role="group"
        aria-label="Gates, from left to right"
      >
        <Wires drawing={drawing} x={x} width={width} />
        {frames.map((frame) => (
          <Frame key={frame.key} frame={frame} isLit={isOn(frame, selectedLine)} onPoint={onPoint} />
        ))}
        {marks.map((mark, at) => (
          // biome-ignore lint/a11y/useSemanticElements: a part of a drawing can only be a button by its role
          <g
            key={mark.key}
            data-mark={at}
            role="button"
            tabIndex={at === Math.min(reached, marks.length - 1) ? 0 : -1}
            className={isOn(mark, selectedLine) ? styles.lit : styles.mark}
            onPointerEnter={() => onPoint?.(mark.position)}
            onPointerLeave={() => onPoint?.(null)}
            onFocus={() => {
              setReached(at)
              onPoint?.(mark.position)
            }}
            onBlur={() => onPoint?.(null)}
            onClick={() => onChoose?.(mark.position)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') onChoose?.(mark.position)
              else walk(event, at)
            }}
          >
            <title>{mark.title}</title>
            {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: the group around has the focus and the title, not this one */}
            <g aria-hidden="true">
              <MarkSign mark={mark} />
            </g>
          </g>
        ))}
      </svg>
    </div>
  )
}

const isOn = ({ position }: DrawnMark | DrawnFrame, line: number | null): boolean =>
  line !== null && position.line === line

const Wires = memo(({ drawing: { wires }, x, width }: { drawing: Drawing; x: number; width: number }) => (
  <g>
    {wires.map(({ kind, y, bits }) =>
      kind === 'qubit' ? (
        <line key={y} className={styles.wire} x1={x} x2={x + width} y1={y} y2={y} />
      ) : (
        <g key={y}>
          <path className={styles.classicalWire} d={`M${x} ${y - 1.5}h${width}M${x} ${y + 1.5}h${width}`} />
          {bits > 1 && (
            <>
              <path className={styles.classicalWire} d={`M${x + 3} ${y + 5}l6 -10`} />
              <text className={styles.bits} x={x + 12} y={y - 8}>
                {bits}
              </text>
            </>
          )}
        </g>
      )
    )}
  </g>
))

function Frame({ frame, isLit, onPoint }: Pick<PageProps, 'onPoint'> & { frame: DrawnFrame; isLit: boolean }) {
  const { x, y, width, height, elseX, label, title } = frame
  return (
    <g
      className={isLit ? styles.litFrame : styles.frame}
      onPointerEnter={() => onPoint?.(frame.position)}
      onPointerLeave={() => onPoint?.(null)}
    >
      <title>{title}</title>
      <rect x={x} y={y} width={width} height={height} rx={4} />
      <text x={x + 5} y={y + 7}>
        {label}
      </text>
      {elseX !== null && (
        <>
          <line x1={elseX} x2={elseX} y1={y} y2={y + height} />
          <text x={elseX + 5} y={y + 7}>
            else
          </text>
        </>
      )}
    </g>
  )
}
