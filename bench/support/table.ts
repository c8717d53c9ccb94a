// Tables on a terminal, and the figures that go into them.

export function printTable(title: string, head: string[], rows: string[][]): void {
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const line = (cells: string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  console.log(`${title}\n${line(head)}\n${line(widths.map((width) => '-'.repeat(width)))}`)
  for (const row of rows) console.log(line(row))
  console.log()
}

/** The value below which `share` (0 to 1) of the values lie. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: number[]): number => quantile(values, 0.5)

/** The lowest and the highest of the values: `150-163`. */
export const spread = (values: number[], digits: number): string =>
  `${Math.min(...values).toFixed(digits)}-${Math.max(...values).toFixed(digits)}`

/** A ratio and its goal: `91 % (goal 80 %: reached)`. */
export const againstGoal = (ratio: number, goal: number): string =>
  `${(100 * ratio).toFixed(0)} % (goal ${(100 * goal).toFixed(0)} %: ${ratio >= goal ? 'reached' : 'missed'})`
