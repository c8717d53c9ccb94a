// A process that is frozen, or cut off from the network, in the middle of a transaction, and the others that need the same
// rows: none of them waits for longer than the limit of an idle transaction.
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { createFailedRows } from '../../apps/worker/sweeps/failed-rows.js'
import { connect, type Tx } from '../../db/client.js'
import { beginJob, completeJob } from '../../db/job-steps/job-steps.js'
import { sweepExpiredLeases } from '../../db/job-steps/leases.js'
import { jobStatus } from '../../db/jobs/jobs.js'
import { ledgerMismatches } from '../../db/proofs/money-proof.js'
import { addJob, addPerson, newLease } from '../support/jobs/rows.js'
import { createTestDatabase } from '../support/stack/database.js'

const IDLE_LIMIT_MS = 1_500
const database = await createTestDatabase('frozen_sessions')
const { db, close } = connect(database.url)
const limitedPool = connect(database.url, { max: 1, idleInTransactionMs: IDLE_LIMIT_MS })
/** Its sessions stay frozen until a test thaws them. */
const lastingPool = connect(database.url, { max: 1 })
afterAll(async () => {
  await close()
  await limitedPool.close()
  await lastingPool.close()
  await database.drop()
})
beforeEach(() => db.execute(sql`truncate jobs cascade`))
const thaws: (() => Promise<string>)[] = []
afterEach(async () => {
  for (const thaw of thaws.splice(0)) await thaw()
})

const person = await addPerson(db)
const silent = { warn: () => {} }

interface Frozen {
  /** @returns how the frozen transaction finished. */
  thaw(): Promise<string>
}

/** Locks rows in a session that then sends nothing more. */
async function freeze(lock: (tx: Tx) => Promise<unknown>, pool = lastingPool): Promise<Frozen> {
  let thaw = () => {}
  const until = new Promise<void>((resolve) => {
    thaw = resolve
  })
  let locked = () => {}
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve
  })
  const over = pool.db
    .transaction(async (tx) => {
      await lock(tx)
      locked()
      await until
      await tx.execute(sql`select 1`)
    })
    .then(
      () => 'committed',
      () => 'lost'
    )
  // A limit that is over before the rows are locked has frozen nothing.
  if (await Promise.race([isLocked.then(() => false), over])) return freeze(lock, pool)
  const frozen = {
    thaw: () => {
      thaw()
      return over
    }
  }
  thaws.push(frozen.thaw)
  return frozen
}

const lockJob = (jobId: string) => (tx: Tx) => tx.execute(sql`select 1 from jobs where id = ${jobId} for update`)
const lockDays = (tx: Tx) => tx.execute(sql`select 1 from budget_counters for update`)

const expiredJob = async (owner = person) => {
  const id = await addJob(db, owner, { cost: 5n, submission: { mode: 'direct' } })
  await beginJob(db, id, { generation: 1, lease: newLease() })
  await db.execute(sql`update jobs set lease_expires_at = now() - interval '1 second' where id = ${id}`)
  return id
}

test('sessions of the product end frozen transactions, lost clients and their statements', async () => {
  const settings = ['idle_in_transaction_session_timeout', 'client_connection_check_interval', 'statement_timeout']
  const keepalives = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count']
  const rows = await db.execute<{ name: string; value: string }>(
    sql`select name, current_setting(name) as value from unnest(string_to_array(${[...settings, ...keepalives].join(',')}, ',')) name`
  )
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual({
    idle_in_transaction_session_timeout: '90s',
    client_connection_check_interval: '5s',
    statement_timeout: '10s',
    tcp_keepalives_idle: '15',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3'
  })
})

test('a job and a day that a frozen session has locked are free again after the limit of an idle transaction', async () => {
  const id = await addJob(db, person, { cost: 5n })
  await beginJob(db, id, { generation: 1 })
  const frozen = await freeze(async (tx) => {
    await lockJob(id)(tx)
    await lockDays(tx)
  }, limitedPool)
  // A statement that waited for longer than 10 s would fail.
  expect(await completeJob(db, id, { generation: 1 }, 'a'.repeat(64))).toBe('won')
  await addJob(db, person, { cost: 5n })
  expect(await frozen.thaw()).toBe('lost')
  expect([...(await ledgerMismatches(db))]).toEqual([])
})

test('the sweep of leases passes over a job that a frozen session has locked, at once', async () => {
  const locked = await expiredJob()
  const others = [await expiredJob(), await expiredJob()]
  const frozen = await freeze(lockJob(locked))
  const failures = createFailedRows(silent, 'leases')
  // A sweep that waited for the job would fail to end it after a second.
  expect((await sweepExpiredLeases(db, 200, failures)).sort()).toEqual([...others].sort())
  expect(failures.take().failed).toBe(0)
  await frozen.thaw()
  expect(await sweepExpiredLeases(db, 200, failures)).toEqual([locked])
})

test("the sweep of leases waits a second for a team whose day is locked, and ends the other teams' jobs", async () => {
  const theirs = [await expiredJob(), await expiredJob(), await expiredJob()]
  const frozen = await freeze(lockDays)
  const other = await addPerson(db)
  const mine = await expiredJob(other)
  const failures = createFailedRows(silent, 'leases')
  expect(await sweepExpiredLeases(db, 3, failures)).toEqual([])
  // The locked team is left out for now.
  expect(await sweepExpiredLeases(db, 3, failures)).toEqual([mine])
  // Of three jobs, one has waited.
  expect(failures.take()).toMatchObject({ failed: 1, lastFailure: expect.stringContaining('lock timeout') })
  await frozen.thaw()
  for (const id of theirs) expect(await jobStatus(db, id)).toBe('running')
  expect((await sweepExpiredLeases(db, 200, createFailedRows(silent, 'leases'))).sort()).toEqual([...theirs].sort())
})

test('a job that cannot be ended does not keep the sweep of leases from the jobs behind it', async () => {
  const poison = await expiredJob()
  await db.execute(
    sql.raw(`create function refuse_poison() returns trigger language plpgsql as
    $$ begin raise exception 'poison'; end $$`)
  )
  await db.execute(
    sql.raw(`create trigger poison before update of status on jobs for each row
    when (old.id = '${poison}') execute function refuse_poison()`)
  )
  let time = 0
  const warnings: unknown[] = []
  const log = { warn: (facts: unknown) => warnings.push(facts) }
  const failures = createFailedRows(log as never, 'leases', { clock: () => time, pauseMs: 30_000 })
  const healthy = await expiredJob()
  expect(await sweepExpiredLeases(db, 1, failures)).toEqual([])
  expect(await sweepExpiredLeases(db, 1, failures)).toEqual([healthy])
  expect(failures.take()).toEqual({ failed: 1, lastFailure: `${poison}: poison` })
  expect(warnings).toEqual([{ sweep: 'leases', id: poison, err: expect.anything() }])
  await db.execute(sql`drop trigger poison on jobs`)
  expect(await sweepExpiredLeases(db, 1, failures)).toEqual([])
  time = 30_000
  expect(await sweepExpiredLeases(db, 1, failures)).toEqual([poison])
})
