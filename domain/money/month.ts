// UTC months, by which usage is reported.

export interface Month {
  /** For example `2026-11`. */
  month: string
  /** Its first and last day, `2026-11-01` and `2026-11-30`. */
  start: string
  end: string
}

const DAY_MS = 86_400_000

export function monthOf(at: Date): Month {
  const first = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)
  const next = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)
  const day = (time: number) => new Date(time).toISOString().slice(0, 10)
  return { month: day(first).slice(0, 7), start: day(first), end: day(next - DAY_MS) }
}

/** Returns `null` for text that is not a month (`2026-13`), and for months before 1970. */
export function readMonth(text: string): Month | null {
  if (!/^(19[7-9]|[2-9]\d\d)\d-(0[1-9]|1[0-2])$/.test(text)) return null
  return monthOf(new Date(`${text}-01T00:00:00Z`))
}

export const monthBefore = ({ start }: Month): Month => monthOf(new Date(Date.parse(`${start}T00:00:00Z`) - DAY_MS))

/** Every day of the month, in order. */
export function daysOf({ start, end }: Month): string[] {
  const days: string[] = []
  for (let at = Date.parse(`${start}T00:00:00Z`); at <= Date.parse(`${end}T00:00:00Z`); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10))
  return days
}

/** By how many percent `now` exceeds `before`, to one decimal; `null` when `before` is zero. */
export const changePercent = (before: bigint, now: bigint): number | null =>
  before === 0n ? null : Math.round((Number(now - before) / Number(before)) * 1000) / 10
