// The state of a worker's sweeps, as administrators see it, and how rarely it is stored.
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startMoneySweep } from '../../../apps/worker/sweeps/money-sweep.js'
import { createSweepReports, type SweepReport } from '../../../apps/worker/sweeps/sweep-reports.js'
import { startLoop, type TimerLoop } from '../../../apps/worker/sweeps/timer-loop.js'
import { proveAll } from '../../../db/proofs/money-proof.js'
import { loadSweeps } from '../../../db/service/sweeps.js'
import { eventually } from '../../support/eventually.js'
import { usd } from '../../support/jobs/money-rows.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('sweep_notes')
const { db } = database
const log = pino({ level: 'silent' })
const loops: TimerLoop[] = []
let time = 0
let note: SweepReport
beforeEach(async () => {
  await db.execute(sql`truncate sweeps`)
  note = createSweepReports(db, log, () => time).of('money', 500)
})
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.close()
})
afterAll(() => database.drop())

const moneySweep = async () => (await loadSweeps(db)).find(({ name }) => name === 'money')!

test('a thousand fast passes are stored once in ten seconds, with their total', async () => {
  await note.succeeded({ handled: 1 })
  const first = await moneySweep()
  for (let pass = 0; pass < 1_000; pass++) {
    time += 9
    await note.succeeded({ handled: 2 })
  }
  expect(await moneySweep()).toEqual(first)
  time += 1_001
  await note.succeeded({ handled: 3 })
  expect((await moneySweep()).handled).toBe(2_003)
})

test('a failure, a recovery and a finding are stored at once, and each of them once', async () => {
  await note.succeeded({ findings: [] })
  await note.failed(new Error('query', { cause: new Error('connection refused\nand so on') }))
  const failed = await moneySweep()
  expect(failed.error).toBe('connection refused')
  await note.failed(new Error('connection refused'))
  expect(await moneySweep()).toEqual(failed)
  await note.succeeded({ findings: ['something'] })
  const found = await moneySweep()
  expect(found).toMatchObject({ error: null, findings: [{ message: 'something' }] })
  await note.succeeded({ findings: ['something'] })
  expect(await moneySweep()).toEqual(found)
  await note.succeeded({ findings: [] })
  expect((await moneySweep()).findings).toEqual([])
})

test('a state that cannot be stored does not stop the sweep, and the next pass makes up for it', async () => {
  await db.execute(sql`alter table sweeps rename to sweeps_elsewhere`)
  await note.succeeded({ handled: 5 })
  await note.failed(new Error('x'))
  await db.execute(sql`alter table sweeps_elsewhere rename to sweeps`)
  await note.succeeded({ handled: 1 })
  expect((await moneySweep()).handled).toBe(6)
})

test('a pass that throws is stored with its reason, and a pass left to another worker is not stored', async () => {
  let answer: () => Promise<null> = async () => null
  const before = performance.now()
  loops.push(startLoop('money', 1, log, () => answer(), note))
  await eventually(async () => performance.now() - before > 50)
  expect(await loadSweeps(db)).toEqual([])
  answer = () => Promise.reject(new Error('out of ink'))
  await eventually(async () => (await moneySweep())?.error === 'out of ink')
})

test('the money sweep checks recent entries and the whole ledger at its start, and shows findings until they are repaired', async () => {
  const person = await addPerson(db)
  await addJob(db, person, { cost: usd(1) })
  await db.execute(sql`update budget_counters set reserved_micro = 0 where period = 'day'`)
  loops.push(startMoneySweep({ db, reports: createSweepReports(db, log, () => performance.now()), log, everyMs: 20 }))
  const names = async () => (await loadSweeps(db)).filter(({ findings }) => findings.length > 0).map(({ name }) => name)
  await eventually(async () => (await names()).join() === 'money,money_in_full')
  const [counters] = await db.execute(
    sql`select reserved_micro::int as reserved from budget_counters where period = 'day'`
  )
  expect(counters).toEqual({ reserved: 0 })
  await db.execute(sql`update budget_counters set reserved_micro = 1000000 where period = 'day'`)
  await eventually(async () => (await names()).join() === 'money_in_full')
})

test('the money sweep leaves a proof that another worker has just made, and a stop ends the proof of the whole ledger', async () => {
  const person = await addPerson(db)
  await addJob(db, person, { cost: usd(1) })
  await db.execute(sql`update budget_counters set reserved_micro = 0 where period = 'day'`)
  await note.succeeded({ findings: [] })
  const sweep = startMoneySweep({ db, reports: createSweepReports(db, log, () => time), log, everyMs: 60_000 })
  loops.push(sweep)
  await eventually(async () =>
    (await loadSweeps(db)).some(({ name, findings }) => name !== 'money' && findings.length > 0)
  )
  await sweep.close()
  expect((await moneySweep()).findings).toEqual([])
  await expect(proveAll(db, { signal: AbortSignal.abort() })).rejects.toThrow('abort')
})

test('a stop gives up the proof of the whole ledger after the statement under way, and leaves it to another worker', async () => {
  await note.succeeded({ findings: [] })
  let closing: Promise<void> | undefined
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table ledger in access exclusive mode`)
    const sweep = startMoneySweep({ db, reports: createSweepReports(db, log, () => time), log, everyMs: 60_000 })
    loops.push(sweep)
    await untilLockAwaited(db)
    closing = sweep.close()
  })
  await closing
  expect((await loadSweeps(db)).map(({ name }) => name)).not.toContain('money_in_full')
})
