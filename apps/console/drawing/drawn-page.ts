// Where everything stands on a page of a circuit's drawing, in pixels.
import type { Circuit, Position } from '../circuit/circuit.js'
import { clipped } from '../text/shown-text.js'
import type { PlacedFrame, PlacedMark } from './columns.js'
import { type Drawing, TITLE_CELLS_MAX } from './drawing-layout.js'
import type { DrawingPage } from './drawing-pages.js'
import { BOX_HEIGHT, FRAME_LABEL, FRAME_LABEL_CELLS_MAX, halfWidthOf, labelOf } from './grid.js'
import type { GateMark } from './marks.js'

interface Drawn {
  key: number
  /** Where its statement stands in the program. */
  position: Position
  title: string
  column: number
  /** The centre. */
  x: number
}

export type DrawnMark = Drawn &
  (
    | {
        kind: 'gate'
        sign: GateMark['sign']
        label: string
        /** Half the width and the edges of the box; without a box, of the sign. */
        box: { halfWidth: number; top: number; bottom: number } | null
        /** Which of several targets each wire is, at the left side of the box. */
        ports: { y: number; text: string }[]
        targets: number[]
        controls: { y: number; isFilled: boolean }[]
        line: { from: number; to: number } | null
      }
    | { kind: 'measure'; y: number; toY: number; bit: string | null }
    | { kind: 'reset'; y: number }
    | { kind: 'barrier'; ys: number[] }
  )

export interface DrawnFrame {
  key: number
  position: Position
  title: string
  label: string
  begin: number
  end: number
  x: number
  width: number
  y: number
  height: number
  /** Where its `else` begins. */
  elseX: number | null
}

export interface DrawnPage {
  x: number
  width: number
  /** By column. */
  marks: DrawnMark[]
  /** Those that reach into the page, cut at its sides. */
  frames: DrawnFrame[]
}

/** How far a frame that is cut reaches over the edge, where its side is not seen. */
const BEYOND = 4

export function drawnPage(drawing: Drawing, { begin, end }: DrawingPage): DrawnPage {
  const { columns, edges } = drawing
  const [left, right] = [edges[begin]!, edges[end]!]
  return {
    x: left,
    width: right - left,
    marks: columns.marks.flatMap((placed, key) =>
      placed.column >= begin && placed.column < end ? [drawnMark(placed, key, drawing)] : []
    ),
    frames: columns.frames.flatMap((placed, key) =>
      placed.begin < end && placed.end > begin ? [cutFrame(drawnFrame(placed, key, drawing), left, right)] : []
    )
  }
}

function drawnMark(
  { mark, column, top, bottom }: PlacedMark,
  key: number,
  { circuit, rows, places, edges, grid }: Drawing
): DrawnMark {
  const y = grid.centre
  const common = {
    key,
    position: positionOf(circuit, mark.call),
    title: clipped(mark.title, TITLE_CELLS_MAX),
    column,
    x: (edges[column]! + edges[column + 1]!) / 2
  }
  const ofQubit = (qubit: number) => y(rows.ofQubit(qubit))
  switch (mark.kind) {
    case 'measure': {
      const bit = places.get(mark.clbit)?.bit ?? null
      return {
        ...common,
        kind: 'measure',
        y: ofQubit(mark.qubit),
        toY: y(bottom),
        bit: bit === null ? null : String(bit)
      }
    }
    case 'reset':
      return { ...common, kind: 'reset', y: ofQubit(mark.qubit) }
    case 'barrier':
      return { ...common, kind: 'barrier', ys: mark.qubits.map(ofQubit) }
    case 'gate': {
      const targets = mark.targets.length > 0 ? mark.targets.map(ofQubit) : mark.controls.length > 0 ? [] : [y(0)]
      const controls = mark.controls.map(({ qubit, value }) => ({ y: ofQubit(qubit), isFilled: value === 1 }))
      const isBox = mark.sign === 'box' && targets.length > 0
      return {
        ...common,
        kind: 'gate',
        sign: mark.sign,
        label: labelOf(mark),
        box: isBox
          ? {
              halfWidth: halfWidthOf(mark),
              top: Math.min(...targets) - BOX_HEIGHT / 2,
              bottom: Math.max(...targets) + BOX_HEIGHT / 2
            }
          : null,
        ports: isBox && targets.length > 1 ? targets.map((at, port) => ({ y: at, text: String(port) })) : [],
        targets,
        controls,
        line: top === bottom ? null : { from: y(top), to: y(bottom) }
      }
    }
  }
}

function drawnFrame(
  { mark, begin, middle, end, top, bottom, depth, labels }: PlacedFrame,
  key: number,
  { circuit, edges, grid }: Drawing
): DrawnFrame {
  // Frames within frames lie apart, as far as there is room.
  const inset = 1 + Math.min(6, 2 * depth)
  const [left, right] = [edges[begin]! + inset, edges[end]! - inset]
  const from = grid.top(top) - labels * FRAME_LABEL + 1
  return {
    key,
    position: positionOf(circuit, mark.call),
    title: clipped(mark.title, TITLE_CELLS_MAX),
    label: clipped(mark.label, FRAME_LABEL_CELLS_MAX),
    begin,
    end,
    x: left,
    width: right - left,
    y: from,
    height: grid.bottom(bottom) - 1 - inset - from,
    elseX: middle === null ? null : edges[middle]!
  }
}

function cutFrame(frame: DrawnFrame, left: number, right: number): DrawnFrame {
  const from = Math.max(frame.x, left - BEYOND)
  const to = Math.min(frame.x + frame.width, right + BEYOND)
  const isElseSeen = frame.elseX !== null && frame.elseX > left && frame.elseX < right
  return { ...frame, x: from, width: to - from, elseX: isElseSeen ? frame.elseX : null }
}

function positionOf({ calls }: Circuit, call: number): Position {
  const { line, column } = calls[call]!
  return { line, column }
}
