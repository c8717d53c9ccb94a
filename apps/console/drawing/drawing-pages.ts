// A long circuit is drawn a page of columns at a time, so that a page of the console never holds more than it can draw.
import type { Drawing, DrawnFrame, DrawnMark } from './drawing-layout.js'

export interface DrawingPage {
  /** The first column, and the one after the last. */
  begin: number
  end: number
}

/** How many marks a page holds, unless a single column has more. */
const MARKS_MAX = 600
/** Wider pages are hard to find one's way in. */
const COLUMNS_MAX = 400

/** At least one page, which is empty for an empty circuit. */
export function drawingPages({ marks, edges }: Drawing): DrawingPage[] {
  const columns = edges.length - 1
  const perColumn: number[] = new Array(columns).fill(0)
  for (const { column } of marks) perColumn[column]! += 1
  const pages: DrawingPage[] = []
  let [begin, held] = [0, 0]
  for (let column = 0; column < columns; column++) {
    if (column > begin && (held + perColumn[column]! > MARKS_MAX || column - begin >= COLUMNS_MAX)) {
      pages.push({ begin, end: column })
      begin = column
      held = 0
    }
    held += perColumn[column]!
  }
  return [...pages, { begin, end: columns }]
}

export interface PageContent {
  x: number
  width: number
  marks: DrawnMark[]
  /** Those that reach into the page, cut at its sides. */
  frames: DrawnFrame[]
}

export function contentOf({ marks, frames, edges }: Drawing, { begin, end }: DrawingPage): PageContent {
  const [left, right] = [edges[begin]!, edges[end]!]
  return {
    x: left,
    width: right - left,
    marks: marks.filter(({ column }) => column >= begin && column < end),
    frames: frames
      .filter((frame) => frame.begin < end && frame.end > begin)
      .map((frame) => {
        // A cut frame goes on beyond the edge, where its side is not seen.
        const from = Math.max(frame.x, left - 4)
        const to = Math.min(frame.x + frame.width, right + 4)
        return {
          ...frame,
          x: from,
          width: to - from,
          elseX: frame.elseX !== null && frame.elseX < right && frame.elseX > left ? frame.elseX : null
        }
      })
  }
}

/** The page that shows a line of the program; `null` where the drawing has nothing of that line. */
export function pageOfLine({ marks, frames }: Drawing, pages: readonly DrawingPage[], line: number): number | null {
  const column =
    marks.find(({ position }) => position?.line === line)?.column ??
    frames.find(({ position }) => position?.line === line)?.begin
  if (column === undefined) return null
  return pages.findIndex(({ begin, end }) => column >= begin && column < end)
}
