// Times as charts show them. Points in time are UTC, as everywhere in the service.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A time span in its two largest units: `420 ms`, `4.20 s`, `3 min 05 s`, `2 h 10 min`, `3 d 4 h`. */
export function durationText(milliseconds: number): string {
  const span = Math.max(0, Math.round(milliseconds))
  if (span < SECOND) return `${span} ms`
  if (span < 59_995) return `${(span / SECOND).toFixed(2)} s`
  const seconds = Math.round(span / SECOND)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${padded(seconds % 60)} s`
  const minutes = Math.round(span / MINUTE)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} min`
  const hours = Math.round(span / HOUR)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `2026-11-21 10:24:44 UTC` */
export const clockText = (at: number): string => {
  const iso = new Date(at).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

const padded = (value: number): string => String(value).padStart(2, '0')

const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 7, 14, 30, 60, 90, 180, 365].map((count) => count * DAY)
]

export interface TimeTick {
  /** Milliseconds from the beginning of the axis. */
  after: number
  label: string
}

/** Marks at round times from 0 on. @param most how many fit on the axis, at least 1. */
export function timeTicks(span: number, most: number): TimeTick[] {
  const step = steps.find((one) => span / one <= most) ?? Math.ceil(span / most / DAY) * DAY
  const ticks: TimeTick[] = []
  for (let after = 0; after <= span; after += step) ticks.push({ after, label: tickText(after) })
  return ticks
}

/** A round time in one unit where it has one. */
function tickText(after: number): string {
  if (after === 0) return '0'
  if (after % SECOND !== 0) return after < SECOND ? `${after} ms` : `${after / SECOND} s`
  if (after % MINUTE !== 0) return after < MINUTE ? `${after / SECOND} s` : durationText(after)
  if (after % HOUR !== 0) return after < HOUR ? `${after / MINUTE} min` : durationText(after)
  return after % DAY === 0 ? `${after / DAY} d` : after < DAY ? `${after / HOUR} h` : durationText(after)
}
