// Leases of direct jobs. Time passes by changing the rows, never by waiting.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { leaseStatus, renewLeases, sweepExpiredLeases } from '../../../db/job-steps/leases.js'
import { openAttempt } from '../../../db/jobs/attempts.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { LEASE_MS } from '../../../domain/jobs/lease.js'
import { noFailures } from '../../support/failures.js'
import { addJob, addPerson, newLease } from '../../support/jobs/rows.js'
import { databaseTime } from '../../support/postgres/database-time.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('leases')
const { db } = database
afterAll(() => database.drop())

const sweep = (limit: number) => sweepExpiredLeases(db, limit, noFailures)
const person = await addPerson(db)
let jobId: string
let lease: string

const addHeldJob = async (): Promise<{ id: string; lease: string }> => {
  const id = await addJob(db, person, { cost: 5n, submission: { mode: 'direct' } })
  const held = newLease()
  await beginJob(db, id, { generation: 1, lease: held })
  await openAttempt(db, id, { generation: 1, lease: held })
  return { id, lease: held }
}
const expire = (id: string) =>
  db.execute(sql`update jobs set lease_expires_at = now() - interval '1 millisecond' where id = ${id}`)
const job = async (id: string) => {
  const [row] =
    await db.execute(sql`select status, error_code, cancel_outcome, lease_token, actual_cost_micro::int as cost,
    (select string_agg(state, ',' order by number) from attempts where job_id = jobs.id) as attempts from jobs where id = ${id}`)
  return row!
}

/** For how many seconds after a moment the lease of a job lasts. */
const leaseAfter = async (moment: number, id: string) => {
  const [row] = await db.execute<{ expires: number }>(
    sql`select extract(epoch from lease_expires_at)::float8 as expires from jobs where id = ${id}`
  )
  return row!.expires - moment
}

beforeEach(async () => {
  // No lease of an earlier test expires during this one.
  await db.execute(
    sql`update jobs set lease_expires_at = now() - interval '1 millisecond' where status in ('running', 'cancelling')`
  )
  await sweep(1000)
  ;({ id: jobId, lease } = await addHeldJob())
})

describe('a worker', () => {
  test('renews all its leases in one statement and learns which jobs are being cancelled', async () => {
    const second = await addHeldJob()
    await db.execute(
      sql`update jobs set lease_expires_at = now() + interval '1 second' where id in (${jobId}, ${second.id})`
    )
    await requestCancel(db, second.id)
    const before = await databaseTime(db)
    expect(await renewLeases(db, [lease, second.lease, newLease()])).toEqual(
      new Map([
        [lease, 'running'],
        [second.lease, 'cancelling']
      ])
    )
    for (const id of [jobId, second.id]) expect(await leaseAfter(before, id)).toBeGreaterThan(LEASE_MS / 1_000 - 0.01)
    expect(await renewLeases(db, [])).toEqual(new Map())
  })

  test('renews a lease without a change of any index', async () => {
    const [before, after] = await db.transaction(async (tx) => {
      const changes = () =>
        tx.execute(sql`select pg_stat_get_xact_tuples_updated('jobs'::regclass)::int as changed,
        pg_stat_get_xact_tuples_hot_updated('jobs'::regclass)::int as in_place`)
      // The session also counts what it has not reported yet.
      const [before] = await changes()
      await renewLeases(tx, [lease])
      const [after] = await changes()
      return [before!, after!]
    })
    expect([Number(after.changed) - Number(before.changed), Number(after.in_place) - Number(before.in_place)]).toEqual([
      1, 1
    ])
  })

  test('renews its other leases while the row of one job is locked, and keeps that job', async () => {
    const second = await addHeldJob()
    await db.execute(
      sql`update jobs set lease_expires_at = now() + interval '1 second' where id in (${jobId}, ${second.id})`
    )
    const before = await databaseTime(db)
    await db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from jobs where id = ${jobId} for update`)
      expect(await renewLeases(db, [lease, second.lease])).toEqual(
        new Map([
          [lease, 'running'],
          [second.lease, 'running']
        ])
      )
    })
    expect(await leaseAfter(before, second.id)).toBeGreaterThan(LEASE_MS / 1_000 - 0.01)
    expect(await leaseAfter(before, jobId)).toBeLessThan(1)
  })

  test('can renew an expired lease that no sweep has taken', async () => {
    await expire(jobId)
    expect((await renewLeases(db, [lease])).get(lease)).toBe('running')
    expect(await sweep(10)).toEqual([])
  })

  test('whose lease was taken can neither renew nor complete, and sees no status', async () => {
    await expire(jobId)
    await sweep(10)
    expect(await renewLeases(db, [lease])).toEqual(new Map())
    expect(await leaseStatus(db, jobId, lease)).toBeNull()
    expect(await completeJob(db, jobId, { generation: 1, lease }, 'a'.repeat(64))).toBe('lost')
    expect((await job(jobId)).status).toBe('failed')
  })
})

describe('the sweep of leases', () => {
  test('leaves valid leases alone', async () => {
    expect(await sweep(10)).toEqual([])
    expect((await job(jobId)).status).toBe('running')
    expect(await leaseStatus(db, jobId, lease)).toBe('running')
  })

  test('fails a running job with worker_lost, closes its attempt as lost, and releases the money', async () => {
    await expire(jobId)
    expect(await sweep(10)).toEqual([jobId])
    expect(await job(jobId)).toMatchObject({
      status: 'failed',
      error_code: 'worker_lost',
      attempts: 'lost',
      lease_token: null,
      cost: 0
    })
    expect(await sweep(10)).toEqual([])
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  test('cancels a job that was being cancelled', async () => {
    await requestCancel(db, jobId)
    await expire(jobId)
    await sweep(10)
    expect(await job(jobId)).toMatchObject({
      status: 'cancelled',
      error_code: null,
      cancel_outcome: 'stopped_before_provider',
      attempts: 'cancelled'
    })
  })

  test('takes at most its limit, and two concurrent sweeps take no job twice', async () => {
    const others = await Promise.all(Array.from({ length: 9 }, addHeldJob))
    const ids = [jobId, ...others.map((other) => other.id)]
    for (const id of ids) await expire(id)
    expect(await sweep(0)).toEqual([])
    const swept = await Promise.all([sweep(4), sweep(4), sweep(4)])
    for (const pass of swept) expect(pass.length).toBeLessThanOrEqual(4)
    const rest = await sweep(100)
    expect([...swept.flat(), ...rest].sort()).toEqual([...ids].sort())
  })

  test('and a completing worker at the same moment: one wins, the other changes nothing', async () => {
    for (let round = 0; round < 10; round++) {
      const held = await addHeldJob()
      await expire(held.id)
      const [swept, completed] = await Promise.all([
        sweep(10),
        completeJob(db, held.id, { generation: 1, lease: held.lease }, 'a'.repeat(64))
      ])
      const { status } = await job(held.id)
      expect([swept.includes(held.id), completed, status]).toEqual(
        completed === 'won' ? [false, 'won', 'completed'] : [true, 'lost', 'failed']
      )
    }
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })
})
