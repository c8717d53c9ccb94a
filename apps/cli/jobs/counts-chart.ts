// Draws counts as bars, the most frequent outcome first.
import { outScreen } from '../terminal/screen.js'
import { widthOf } from '../terminal/text-width.js'
import { plainLine } from '../terminal/untrusted-text.js'

const ROWS_MAX = 20
const BAR_WIDTH_MAX = 40
/** A shorter bar shows nothing. */
const BAR_WIDTH_MIN = 4
/** Of ` 12.3 %` and the gaps. */
const REST_WIDTH = 7 + 3 * 2

/** Outcomes with equal counts are ordered by their bit strings, so that two runs of one command look alike. */
export const mostFrequentFirst = (counts: Record<string, number>): [outcome: string, count: number][] =>
  Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))

export function countsChart(counts: Record<string, number>, { columns } = outScreen()): string {
  const sorted = mostFrequentFirst(counts)
  const shots = sorted.reduce((sum, [, count]) => sum + count, 0)
  const shown = sorted.slice(0, ROWS_MAX)
  const most = shown[0]?.[1] ?? 0
  const digits = String(most).length
  const widest = Math.max(0, ...shown.map(([outcome]) => widthOf(plainLine(outcome))))
  const barWidth = Math.min(BAR_WIDTH_MAX, columns - widest - digits - REST_WIDTH)
  const lines = shown.map(([outcome, count]) => {
    // A count above zero is always visible.
    const bar = '█'.repeat(count === 0 ? 0 : Math.max(1, Math.round((count / most) * Math.max(0, barWidth))))
    const drawn = barWidth < BAR_WIDTH_MIN ? '' : `${bar.padEnd(barWidth)}  `
    return `${plainLine(outcome)}  ${drawn}${String(count).padStart(digits)}  ${percent(count, shots)}`
  })
  const rest = sorted.slice(ROWS_MAX)
  if (rest.length > 0) {
    const restShots = rest.reduce((sum, [, count]) => sum + count, 0)
    const outcomes = rest.length === 1 ? '1 more outcome' : `${rest.length} more outcomes`
    lines.push(`and ${outcomes} with ${restShots} of ${shots} shots (--json shows all)`)
  }
  return lines.join('\n')
}

const percent = (count: number, shots: number): string => `${((100 * count) / (shots || 1)).toFixed(1).padStart(5)} %`
