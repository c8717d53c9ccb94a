// Formats times for people. Absolute times are UTC, like those of the service and its logs.

/** `2026-11-21 10:24:44 UTC` */
export const clockTime = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`

/** `3 min ago`, or the date if it is older than a day. */
export function ago(at: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1000)
  if (seconds < 60) return `${Math.floor(seconds)} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 24 * 3600) return `${Math.floor(seconds / 3600)} h ago`
  return clockTime(at).slice(0, 16)
}

/** The time between two moments: `0.42 s`, `3 min 05 s`, `2 h 10 min`. */
export function lasted(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  if (seconds < 60) return `${seconds.toFixed(2)} s`
  const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)]
  if (minutes < 60) return `${minutes} min ${String(rest).padStart(2, '0')} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}

/** A short form of a duration: `0.42s`, `3m05s`, `2h10m`. */
export function briefTime(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 59.995) return `${seconds.toFixed(2)}s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`
}
