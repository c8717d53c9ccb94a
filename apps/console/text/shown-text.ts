// Text of users as charts and drawings show it. React escapes markup; what is left to do is to keep a name within its
// place: characters that reorder, hide or stack what stands next to them, and names without an end.

/** Combining marks on one character; more of them only cover the lines above and below. */
const MARKS_MAX = 2
/** The first code point of scripts whose characters are as wide as two Latin ones. */
const WIDE_FROM = 0x1100

/** Makes a text safe to stand on one line: control, format and bidi characters become �, white space one space. */
export const shownText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Co}]/gu, '\uFFFD')
    .replace(new RegExp(`(\\p{M}{${MARKS_MAX}})\\p{M}+`, 'gu'), '$1')

/** How wide a text is, in Latin characters of a monospaced font. */
export function cellsOf(text: string): number {
  let cells = 0
  for (const character of text) cells += character.codePointAt(0)! < WIDE_FROM ? 1 : 2
  return cells
}

/** Most names, which need no further look: a circuit has tens of thousands. */
const plainName = /^[!-~π]+(?: [!-~π]+)*$/

/** A text on one line that takes at most so many cells; what is cut off is marked. */
export function clipped(text: string, cellsMax: number): string {
  if (text.length <= cellsMax && plainName.test(text)) return text
  // A name can be a megabyte long, and only its beginning is looked at.
  const line = shownText(text.slice(0, 4 * cellsMax + 16))
  const isWhole = text.length <= 4 * cellsMax + 16
  if (isWhole && cellsOf(line) <= cellsMax) return line
  let [kept, cells] = ['', 0]
  for (const character of line) {
    cells += cellsOf(character)
    if (cells > cellsMax - 1) break
    kept += character
  }
  return `${kept}…`
}
