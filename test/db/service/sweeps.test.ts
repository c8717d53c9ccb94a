import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { FINDINGS_MAX, isDue, loadSweeps, recordSweep, type SweepPass } from '../../../db/service/sweeps.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('sweeps')
const { db } = database
afterAll(() => database.drop())
beforeEach(() => db.execute(sql`truncate sweeps`))

const note = (pass: Partial<SweepPass> = {}) =>
  recordSweep(db, { name: 'money', periodSeconds: 10, error: null, handled: 0, findings: null, ...pass })
const only = async () => (await loadSweeps(db))[0]!
const ago = (seconds: number) =>
  db.execute(sql`update sweeps set succeeded_at = now() - make_interval(secs => ${seconds})`)

test('a failed pass of a sweep keeps the last success and its findings, and the next success clears the error', async () => {
  await note({ handled: 7, findings: ['a'] })
  const good = await only()
  expect(good).toMatchObject({ error: null, handled: 7, findings: [{ message: 'a' }], late: false })
  await note({ error: 'no route to host', handled: 0 })
  expect(await only()).toEqual({ ...good, ranAt: expect.any(Date), error: 'no route to host' })
  await note({ handled: 1, findings: [] })
  expect(await only()).toMatchObject({ error: null, handled: 1, findings: [] })
})

test('a finding of a sweep keeps the time at which it was first found', async () => {
  await note({ findings: ['a'] })
  const { at } = (await only()).findings[0]!
  expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60_000)
  await db.execute(sql`update sweeps set findings = '[{"message": "a", "at": "2026-01-01T00:00:00.000Z"}]'`)
  await note({ findings: ['b', 'a'] })
  expect((await only()).findings).toEqual([
    { message: 'b', at: expect.not.stringContaining('2026-01-01') },
    { message: 'a', at: '2026-01-01T00:00:00.000Z' }
  ])
  await note({ findings: null })
  expect((await only()).findings).toHaveLength(2)
})

test('the findings of a sweep are bounded in number and length', async () => {
  await note({ findings: Array.from({ length: FINDINGS_MAX + 20 }, (_, n) => `${n} ${'x'.repeat(2_000)}`) })
  const { findings } = await only()
  expect(findings).toHaveLength(FINDINGS_MAX)
  expect(Math.max(...findings.map(({ message }) => message.length))).toBeLessThanOrEqual(500)
})

test('a sweep is late ten periods after its last success, and when it never had one', async () => {
  await note()
  await ago(60)
  expect((await only()).late).toBe(false)
  await ago(105)
  expect((await only()).late).toBe(true)
  await db.execute(sql`truncate sweeps`)
  await note({ error: 'broken' })
  expect(await only()).toMatchObject({ late: true, succeededAt: null })
})

test('a daily sweep is due at first, after a day, and sooner when it has findings', async () => {
  const due = () => isDue(db, 'money', 86_400, 3_600)
  expect(await due()).toBe(true)
  await note({ findings: [] })
  await ago(80_000)
  expect(await due()).toBe(false)
  await ago(90_000)
  expect(await due()).toBe(true)
  await note({ findings: ['a'] })
  await ago(3_000)
  expect(await due()).toBe(false)
  await ago(4_000)
  expect(await due()).toBe(true)
})
