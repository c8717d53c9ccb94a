// The copies of schedules in a real Temporal server: it announces the same times as we do.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ScheduleRow } from '../../../db/capsules/capsule-schedules.js'
import { dueTimes, readCron } from '../../../domain/verification/schedule.js'
import { copyNote, scheduleIdOf } from '../../../domain/verification/schedule-names.js'
import { createScheduleCopies } from '../../../services/dispatch/schedule-copies.js'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { eventually } from '../../support/eventually.js'

const taskQueue = `schedule-copies-${randomUUID()}`
const { client, close } = createTemporalClient({ address: process.env.TEST_TEMPORAL_ADDRESS! }, 'default')
const copies = createScheduleCopies(client, taskQueue)
const made: string[] = []
const noteOf = (version: number) => copyNote(version, new Date())

const rowOf = (changes: Partial<ScheduleRow> = {}): ScheduleRow => {
  const row: ScheduleRow = {
    capsuleId: randomUUID(),
    cron: '0 3 * * *',
    timezone: 'UTC',
    paused: true,
    alertEmails: [],
    alertOn: [],
    version: 1,
    createdBy: null,
    appliedVersion: null,
    refusal: null,
    endedAt: null,
    createdAt: new Date(),
    updatedAt: new Date(),
    ...changes
  }
  made.push(row.capsuleId)
  return row
}

const described = (row: ScheduleRow) => client.schedule.getHandle(scheduleIdOf(row.capsuleId)).describe()

beforeAll(() => client.connection.ensureConnected())
afterAll(async () => {
  for (const capsuleId of made) await copies.remove(capsuleId)
  await close()
})

const nextYear = new Date().getUTCFullYear() + 1
const HOUR_MS = 3_600_000

/** A day before the clocks of the time zone change in this month of the next year. */
function beforeChange(timeZone: string, month: number): Date {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (time: number) => format.formatToParts(time).find(({ type }) => type === 'timeZoneName')!.value
  let time = Date.UTC(nextYear, month - 1, 1)
  while (offsetAt(time) === offsetAt(time + HOUR_MS)) time += HOUR_MS
  return new Date(time - 24 * HOUR_MS)
}
const newYear = (): Date => new Date(Date.UTC(nextYear, 0, 1))

describe('Temporal runs a schedule at the times that we announce', () => {
  test.each([
    // Clocks go forward, and back.
    ['*/20 0-4 * * *', 'Europe/Berlin', 3],
    ['*/20 0-4 * * *', 'Europe/Berlin', 10],
    ['30 2 * * *', 'Europe/Berlin', 3],
    ['30 2 * * *', 'Europe/Berlin', 10],
    ['30 2 * * *', 'America/New_York', 3],
    ['30 1 * * *', 'America/New_York', 11],
    ['*/15 1-2 * * *', 'Australia/Lord_Howe', 4],
    ['*/15 1-2 * * *', 'Australia/Lord_Howe', 10],
    ['*/30 23,0 * * *', 'America/Havana', 11],
    ['*/30 23,0 * * *', 'America/Santiago', 4],
    ['0 6 * * 7', 'Africa/Cairo', 4],
    ['@weekly', 'Antarctica/Troll', 3],
    // No change of clocks matters for these.
    ['15 * * * *', 'Asia/Kolkata', null],
    ['0 0 29 2 *', 'UTC', null],
    ['0 12 31 * *', 'Pacific/Chatham', null],
    ['59 23 * 2-11/3 *', 'America/St_Johns', null],
    ['0 9 * * 1-5', 'Asia/Tokyo', null],
    ['0 9 * jan,jun sun,wed', 'Africa/Casablanca', null],
    ['5/25 */7 1,15 * *', 'Asia/Kathmandu', null]
  ])('%s in %s, where the clocks change in month %s', async (cron, timezone, month) => {
    const startAt = month === null ? newYear() : beforeChange(timezone, month)
    const row = rowOf({ cron, timezone })
    expect(await copies.put(row)).toBeNull()
    await client.schedule.getHandle(scheduleIdOf(row.capsuleId)).update((before) => ({
      ...before,
      spec: { ...before.spec, startAt, calendars: before.spec.calendars as never, skip: [] },
      state: { paused: true }
    }))
    const { nextActionTimes } = (await described(row)).info
    const theirs = nextActionTimes.map((time) => time.toISOString())
    expect(theirs.length).toBeGreaterThanOrEqual(5)
    const ours = dueTimes(readCron(cron), timezone, new Date(startAt.getTime() - 1), theirs.length)
    expect(ours.map((time) => time.toISOString())).toEqual(theirs)
  })
})

test('a change replaces the copy, even a lost or foreign one', async () => {
  const row = rowOf()
  expect(await copies.put(row)).toBeNull()
  // As if the response to the first request had been lost.
  expect(await copies.put({ ...row, cron: '5 4 * * *', version: 2 })).toBeNull()
  const changed = await described(row)
  expect(changed.spec.calendars).toMatchObject([{ minute: [{ start: 5 }], hour: [{ start: 4 }] }])
  expect(changed.state).toMatchObject({ paused: true, note: noteOf(2) })
  // As if Temporal's database had been lost.
  await copies.remove(row.capsuleId)
  expect(await copies.put({ ...row, paused: false, version: 3, appliedVersion: 2 })).toBeNull()
  expect((await described(row)).state).toMatchObject({ paused: false, note: noteOf(3) })
  await copies.remove(row.capsuleId)
  await copies.remove(row.capsuleId)
  await expect(described(row)).rejects.toThrow(/not found/i)
})

test('a change made while Temporal was away loses no time that came due since', async () => {
  const row = rowOf({ cron: '0 0 29 2 *', paused: false })
  expect(await copies.put(row)).toBeNull()
  const setAt = new Date(Date.now() - 150_000)
  const due = new Date(Math.ceil(setAt.getTime() / 60_000) * 60_000)
  const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`
  expect(await copies.put({ ...row, cron, version: 2, appliedVersion: 1, updatedAt: setAt })).toBeNull()
  const [started] = await eventually(async () => {
    const { recentActions } = (await described(row)).info
    return recentActions.length > 0 && recentActions
  })
  expect(started!.scheduledAt).toEqual(due)
  const { workflow } = started!.action as unknown as { workflow: { workflowId: string } }
  await client.workflow.getHandle(workflow.workflowId).terminate()
})

test('the list contains only the copies of this installation', async () => {
  const row = rowOf({ version: 7 })
  const elsewhere = createScheduleCopies(client, `${taskQueue}-elsewhere`)
  const other = rowOf()
  await copies.put(row)
  await elsewhere.put(other)
  const mine = await eventually(async () => {
    const list = await copies.list()
    return list.has(row.capsuleId) && list
  })
  expect(mine.get(row.capsuleId)).toBe(noteOf(7))
  await eventually(async () => (await elsewhere.list()).has(other.capsuleId))
  expect((await copies.list()).has(other.capsuleId)).toBe(false)
})

test('a schedule that Temporal does not accept is refused with its reason', async () => {
  // A time zone name that Temporal does not know.
  const elsewhere = 'europe/berlin'
  expect(await copies.put(rowOf({ timezone: elsewhere }))).toMatch(/europe\/berlin/)
})
