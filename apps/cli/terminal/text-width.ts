// Measures and cuts text by what a terminal shows: an ideograph takes two columns, a combining accent none.
import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'

const characters = new Intl.Segmenter()

export const widthOf = (text: string): number => stringWidth(text)

/** Cuts a line that is wider than `columns`; `…` shows that something is missing. No character is split. */
export function clipped(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let cut = ''
  let room = columns - 1
  for (const { segment } of characters.segment(text)) {
    room -= widthOf(segment)
    if (room < 0) break
    cut += segment
  }
  return `${cut}…`
}

/**
 * Breaks the lines that are wider than `columns` at spaces, and words that are wider anywhere. What follows a break is
 * indented like the beginning of its line.
 */
export function wrapped(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text
  return text
    .split('\n')
    .map((line) => {
      if (widthOf(line) <= columns) return line
      const indent = /^ */.exec(line)![0].slice(0, Math.floor(columns / 2))
      return inColumns(line.trimStart(), columns - indent.length)
        .map((part) => indent + part)
        .join('\n')
    })
    .join('\n')
}

/** The lines of a text that is broken to fit into `columns`. */
export const inColumns = (text: string, columns: number): string[] =>
  columns === Number.POSITIVE_INFINITY ? [text] : wrapAnsi(text, columns, { hard: true }).split('\n')
