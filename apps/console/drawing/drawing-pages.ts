// A long circuit is drawn a page of columns at a time, so that a page of the console never holds more than it can draw.
import type { Drawing } from './drawing-layout.js'

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
export function drawingPages({ columns: { marks, count } }: Drawing): DrawingPage[] {
  const perColumn: number[] = new Array(count).fill(0)
  for (const { column } of marks) perColumn[column]! += 1
  const pages: DrawingPage[] = []
  let [begin, held] = [0, 0]
  for (let column = 0; column < count; column++) {
    if (column > begin && (held + perColumn[column]! > MARKS_MAX || column - begin >= COLUMNS_MAX)) {
      pages.push({ begin, end: column })
      begin = column
      held = 0
    }
    held += perColumn[column]!
  }
  return [...pages, { begin, end: count }]
}

/** The page that shows a line of the program; `null` where the drawing has nothing of that line. */
export function pageOfLine(
  { circuit, columns: { marks, frames } }: Drawing,
  pages: readonly DrawingPage[],
  line: number
): number | null {
  const isOfLine = ({ mark }: { mark: { call: number } }) => circuit.calls[mark.call]!.line === line
  const column = marks.find(isOfLine)?.column ?? frames.find(isOfLine)?.begin
  if (column === undefined) return null
  return pages.findIndex(({ begin, end }) => column >= begin && column < end)
}
