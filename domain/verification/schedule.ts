// When a schedule is due: cron expressions of five fields in a time zone. Times are local times of that zone: one that
// a day does not have (clocks go forward) is skipped, one that it has twice (clocks go back) is due twice. Temporal
// interprets schedules the same way, so these predictions match what it starts. Hand-made for that reason: cron-parser reads
// the fields, but its own rules for clock changes differ from Temporal's.
import { CronExpressionParser } from 'cron-parser'
import { validationError } from '../errors.js'

/** The values at which each field matches; 0 is Sunday. */
export interface Cron {
  minutes: readonly number[]
  hours: readonly number[]
  daysOfMonth: readonly number[]
  /** 1 is January. */
  months: readonly number[]
  daysOfWeek: readonly number[]
}

export const CRON_MAX = 200
export const TIMEZONE_MAX = 60

const shorthands: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *'
}
const number = String.raw`\d{1,2}`
const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const days = 'sun|mon|tue|wed|thu|fri|sat'
const fieldOf = (value: string): RegExp => {
  const item = String.raw`(\*|(${value})(-(${value}))?)(/\d{1,2})?`
  return new RegExp(`^${item}(,${item})*$`, 'i')
}
const fields: [name: string, shape: RegExp][] = [
  ['minute', fieldOf(number)],
  ['hour', fieldOf(number)],
  ['day of the month', fieldOf(number)],
  ['month', fieldOf(`${number}|${months}`)],
  ['day of the week', fieldOf(`${number}|${days}`)]
]

/**
 * Parses a cron expression.
 * @param text five fields (minute, hour, day of the month, month, day of the week) of `*`, numbers, names of months and
 * days, ranges, lists and steps; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.
 * @throws ServiceError `validation_error` naming the field.
 */
export function readCron(text: string): Cron {
  const written = text.trim().toLowerCase()
  if (written.startsWith('@') && !Object.hasOwn(shorthands, written))
    throw invalidCron(`${JSON.stringify(text)} must be one of ${Object.keys(shorthands).join(', ')}`)
  const parts = (shorthands[written] ?? written).split(/\s+/)
  if (parts.length !== fields.length)
    throw invalidCron(
      `five fields are needed: minute, hour, day of the month, month, day of the week (got ${parts.length})`
    )
  for (const [at, [name, shape]] of fields.entries())
    if (!shape.test(parts[at]!))
      throw invalidCron(
        `${JSON.stringify(parts[at])} is no ${name}: use *, numbers, ranges (1-5), lists (1,15), steps (*/6)`
      )
  // Cron implementations disagree whether such a day must match both fields or one of them.
  if (parts[2] !== '*' && parts[4] !== '*')
    throw invalidCron('set the day of the month or the day of the week, not both; the other one must be *')
  const cron = fieldValues(parts)
  // A leap day comes every four or eight years.
  if (dueTimes(cron, 'UTC', new Date(0), 1).length === 0) throw invalidCron('this day never occurs')
  return cron
}

function fieldValues(parts: string[]): Cron {
  let parsed: ReturnType<typeof CronExpressionParser.parse>['fields']
  try {
    parsed = CronExpressionParser.parse(parts.join(' '), { tz: 'UTC', currentDate: 0 }).fields
  } catch (error) {
    throw invalidCron((error as Error).message)
  }
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parsed
  const numbers = (values: readonly (number | string)[]): number[] =>
    values.filter((value) => typeof value === 'number')
  return {
    minutes: numbers(minute.values),
    hours: numbers(hour.values),
    daysOfMonth: numbers(dayOfMonth.values),
    months: numbers(month.values),
    // Both 0 and 7 are Sunday.
    daysOfWeek: [...new Set(numbers(dayOfWeek.values).map((day) => day % 7))].sort((one, other) => one - other)
  }
}

const invalidCron = (why: string) => validationError(`cron: ${why}`)

/** @param text a name of the IANA database, such as Europe/Berlin. @throws ServiceError `validation_error`. */
export function readTimezone(text: string): string {
  const unknown = () =>
    validationError(`timezone: ${JSON.stringify(text)} is not a time zone; send a name such as UTC or Europe/Berlin`)
  // Offsets such as +01:00 are refused: they have no summer time, and Temporal does not accept them.
  if (!/^[a-z]/i.test(text)) throw unknown()
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
  } catch {
    throw unknown()
  }
  // Temporal requires the exact spelling.
  const listed = Intl.supportedValuesOf('timeZone').find((name) => name.toLowerCase() === text.toLowerCase())
  if (listed) return listed
  return text.toLowerCase() === 'utc' ? 'UTC' : text
}

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Two leap days can be eight years apart. */
const DAYS_BETWEEN_MAX = 9 * 366

/** The first `limit` times after `after` at which the schedule is due, in order. */
export function dueTimes(cron: Cron, timezone: string, after: Date, limit: number): Date[] {
  const wall = wallClock(timezone)
  const found: number[] = []
  // Starts a day earlier: where clocks go back over midnight, some of that day's times are still to come.
  const firstDay = Math.floor(wall(after.getTime()) / DAY_MS) - 1
  for (let day = firstDay, last = day; day < last + DAYS_BETWEEN_MAX && found.length < limit; day++) {
    if (!isDueOn(cron, day)) continue
    found.push(...timesOfDay(cron, day, wall).filter((time) => time > after.getTime()))
    last = day
  }
  return found.slice(0, limit).map((time) => new Date(time))
}

/** Whether the schedule is due in this minute. */
export function isDue(cron: Cron, timezone: string, at: Date): boolean {
  const local = wallClock(timezone)(at.getTime())
  if (local % MINUTE_MS !== 0) return false
  const minute = Math.floor(local / MINUTE_MS) % 60
  const hour = Math.floor(local / (60 * MINUTE_MS)) % 24
  return cron.minutes.includes(minute) && cron.hours.includes(hour) && isDueOn(cron, Math.floor(local / DAY_MS))
}

/** How far around a clock change to look. Every time that the change can lose is within it. */
const AROUND_MS = 4 * 60 * MINUTE_MS

/**
 * The times at which the schedule is due within four hours of a moment in `[from, until]` at which the clocks go back.
 * Temporal's own calendar loses some of them there.
 */
export function timesWhereClocksGoBack(cron: Cron, timezone: string, from: Date, until: Date): Date[] {
  const wall = wallClock(timezone)
  const offsetAt = (time: number) => wall(time) - time
  const times: Date[] = []
  // No time zone changes its clocks twice within a week.
  for (let week = from.getTime(); week < until.getTime(); week += 7 * DAY_MS) {
    let [before, after] = [week, week + 7 * DAY_MS]
    if (offsetAt(after) >= offsetAt(before)) continue
    while (after - before > MINUTE_MS) {
      const middle = Math.floor((before + after) / 2)
      if (offsetAt(middle) < offsetAt(before)) after = middle
      else before = middle
    }
    const end = after + AROUND_MS
    const possible = (2 * AROUND_MS) / MINUTE_MS + 2
    times.push(
      ...dueTimes(cron, timezone, new Date(after - AROUND_MS), possible).filter((time) => time.getTime() <= end)
    )
  }
  return times
}

/** @param day counted from 1970. */
function isDueOn(cron: Cron, day: number): boolean {
  const date = new Date(day * DAY_MS)
  return (
    cron.months.includes(date.getUTCMonth() + 1) &&
    cron.daysOfMonth.includes(date.getUTCDate()) &&
    cron.daysOfWeek.includes(date.getUTCDay())
  )
}

/** In order, in milliseconds. */
function timesOfDay(cron: Cron, day: number, wall: (time: number) => number): number[] {
  const begin = day * DAY_MS
  // The offset before and after any clock change of this day.
  const offsetAt = (time: number) => wall(time) - time
  const offsets = [...new Set([offsetAt(begin - DAY_MS), offsetAt(begin + 2 * DAY_MS)])]
  const times = cron.hours.flatMap((hour) =>
    cron.minutes.flatMap((minute) => {
      const local = begin + (60 * hour + minute) * MINUTE_MS
      const candidates = offsets.map((offset) => local - offset)
      return candidates.length === 1 ? candidates : candidates.filter((time) => wall(time) === local)
    })
  )
  return times.sort((one, other) => one - other)
}

/** By time zone: creating a formatter takes longer than thousands of uses. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const numeric = 'numeric' as const
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric
  })
  formats.set(timeZone, format)
  return format
}

/** Converts a time to the local clock, as the milliseconds of the equal UTC reading. */
function wallClock(timezone: string): (time: number) => number {
  if (timezone === 'UTC') return (time) => time
  const format = formatOf(timezone)
  return (time) => {
    const part: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(time)) part[type] = Number(value)
    const whole = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!)
    return whole + (((time % 1000) + 1000) % 1000)
  }
}
