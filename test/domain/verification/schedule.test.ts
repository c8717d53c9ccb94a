// When schedules are due. test/services/dispatch/schedule-copies.test.ts proves that Temporal agrees.
import { describe, expect, test } from '@jest/globals'
import { driftOf } from '../../../domain/verification/drift.js'
import { dueTimes, isDue, readCron, readTimezone } from '../../../domain/verification/schedule.js'

const due = (cron: string, zone: string, after: string, limit: number): string[] =>
  dueTimes(readCron(cron), zone, new Date(after), limit).map((time) => time.toISOString())

describe('a cron expression', () => {
  test.each([
    ['*/15 * * * *', { minutes: [0, 15, 30, 45] }],
    ['5/20 * * * *', { minutes: [5, 25, 45] }],
    ['0 1-3,22 * * *', { minutes: [0], hours: [1, 2, 3, 22] }],
    ['0 0 * * 7,MON', { daysOfWeek: [0, 1] }],
    ['0 0 * * 5-7', { daysOfWeek: [0, 5, 6] }],
    ['0 0 1 jan-mar *', { daysOfMonth: [1], months: [1, 2, 3] }],
    ['  @Weekly ', { minutes: [0], hours: [0], daysOfWeek: [0] }]
  ])('%s', (text, expected) => {
    expect(readCron(text)).toMatchObject(expected)
  })

  test.each([
    ['', /five fields/],
    ['* * * *', /five fields.*got 4/],
    ['0 * * * * *', /five fields.*got 6/],
    ['60 * * * *', /60/],
    ['* 24 * * *', /24/],
    ['* * 0 * *', /0/],
    ['* * * 13 *', /13/],
    ['* * * * 8', /8/],
    ['*/0 * * * *', /0/],
    ['5-1 * * * *', /5/],
    ['H * * * *', /"h" is no minute/],
    ['* * L * *', /"l" is no day of the month/],
    ['* * * * 1#2', /no day of the week/],
    ['* * ? * *', /"\?"/],
    ['@reboot', /must be one of @hourly/],
    ['@every 5s', /must be one of @hourly/],
    ['0 0 13 * 5', /not both/],
    ['0 0 31 2 *', /day/],
    ['0 0 * * mon#', /no day of the week/],
    ['*'.repeat(150), /five fields/],
    ['1-5,3 * * * *', /duplicate values/],
    ['0 0 * * 0,7', /duplicate values/],
    [`${'1,'.repeat(90)}1 * * * *`, /duplicate values/]
  ])('%s is refused with the field', (text, message) => {
    expect(() => readCron(text)).toThrow(message)
  })
})

test.each([
  ['UTC', 'UTC'],
  ['utc', 'UTC'],
  ['europe/berlin', 'Europe/Berlin'],
  ['Asia/Kolkata', 'Asia/Kolkata']
])('the time zone %s is %s', (text, name) => {
  expect(readTimezone(text)).toBe(name)
})

test.each(['+01:00', 'Mars/Olympus', '', ' Europe/Berlin', 'Europe/Berlin\n', '../etc/passwd'])(
  'the time zone %j is refused',
  (text) => {
    expect(() => readTimezone(text)).toThrow(/timezone: .* is not a time zone/)
  }
)

describe('a schedule follows local time', () => {
  test('a time that the day does not have is skipped', () => {
    expect(due('30 2 * * *', 'Europe/Berlin', '2027-03-26T12:00:00Z', 3)).toEqual([
      '2027-03-27T01:30:00.000Z',
      '2027-03-29T00:30:00.000Z',
      '2027-03-30T00:30:00.000Z'
    ])
  })

  test('a time that the day has twice is due twice', () => {
    expect(due('30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00:00Z', 3)).toEqual([
      '2027-10-31T00:30:00.000Z',
      '2027-10-31T01:30:00.000Z',
      '2027-11-01T01:30:00.000Z'
    ])
  })

  test('clock changes by half an hour and over midnight are followed', () => {
    expect(due('45 1 * * *', 'Australia/Lord_Howe', '2027-04-03T12:00:00Z', 2)).toEqual([
      '2027-04-03T14:45:00.000Z',
      '2027-04-03T15:15:00.000Z'
    ])
    expect(due('30 23 * * *', 'America/Santiago', '2027-04-03T12:00:00Z', 2)).toEqual([
      '2027-04-04T02:30:00.000Z',
      '2027-04-04T03:30:00.000Z'
    ])
  })

  test('a day that a zone skipped has no times', () => {
    expect(due('0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00:00Z', 2)).toEqual([
      '2011-12-29T22:00:00.000Z',
      '2011-12-30T22:00:00.000Z'
    ])
  })

  test('isDue agrees with dueTimes for every minute of two days', () => {
    const cron = readCron('*/7 0-5,22 * * *')
    for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'America/Havana'])
      for (const from of [
        '2027-10-30T20:00:00Z',
        '2027-03-27T20:00:00Z',
        '2027-04-03T10:00:00Z',
        '2027-11-06T20:00:00Z'
      ]) {
        const begin = new Date(from).getTime()
        const minutes = Array.from({ length: 2 * 1440 }, (_, at) => new Date(begin + at * 60_000))
        const listed = dueTimes(cron, zone, new Date(begin - 1), 500).filter((time) => time <= minutes.at(-1)!)
        expect(minutes.filter((time) => isDue(cron, zone, time))).toEqual(listed)
      }
  })
})

describe('drift', () => {
  const point = (day: number, tvd: number) => ({ at: new Date(day * 86_400_000), tvd })

  test('is the least-squares slope with its standard error', () => {
    const drift = driftOf([point(0, 0.01), point(30, 0.03), point(60, 0.05), point(90, 0.07)])!
    expect(drift).toMatchObject({ points: 4, min: 0.01, max: 0.07 })
    expect(drift.mean).toBeCloseTo(0.04, 12)
    expect(drift.per_30_days).toBeCloseTo(0.02, 12)
    expect(drift.standard_error).toBeCloseTo(0, 9)
    // By hand: x = 0, 1, 2; y = 0, 2, 1: slope 1/2, residuals -1/2, 1, -1/2, s^2 = 3/2, error sqrt(3/4).
    const rough = driftOf([point(0, 0), point(30, 2), point(60, 1)])!
    expect(rough.per_30_days).toBeCloseTo(0.5, 12)
    expect(rough.standard_error).toBeCloseTo(Math.sqrt(0.75), 12)
  })

  test('has no slope with less than three points, or at a single time', () => {
    expect(driftOf([])).toBeNull()
    expect(driftOf([point(0, 1), point(1, 2)])).toMatchObject({ per_30_days: null, standard_error: null })
    expect(driftOf([point(0, 1), point(0, 2), point(0, 3)])).toMatchObject({ per_30_days: null })
  })
})
