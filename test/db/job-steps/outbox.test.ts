import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import {
  findFresh,
  markDeferred,
  markDelivered,
  markUnreachable,
  type OutboxRow,
  sweepDispatchDeadline,
  takeDue
} from '../../../db/job-steps/outbox.js'
import { jobStatus } from '../../../db/jobs/jobs.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { noFailures } from '../../support/failures.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { databaseTime } from '../../support/postgres/database-time.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('outbox', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
beforeEach(() => db.execute(sql`truncate jobs cascade`))

const due = async (limit: number) => (await takeDue(db, 'temporal', limit, 1_000)).rows
const fresh = (jobIds: string[]) => findFresh(db, jobIds, 1_000)
const start = (jobId: string) => ({ jobId, kind: 'start' as const })
const PAUSE = { minSeconds: 2, maxSeconds: 30 }
const giveUp = (jobId: string) => sweepDispatchDeadline(db, 900, [start(jobId)], noFailures)
/** Lets time pass for every row: each is due `seconds` earlier. */
const pass = (seconds: number) =>
  db.execute(sql`update outbox set next_at = next_at - make_interval(secs => ${seconds}),
    unreachable_since = unreachable_since - make_interval(secs => ${seconds})`)
const row = async (jobId: string) => {
  const [found] = await db.execute(sql`select deliveries, unreachable_since is not null as unreachable
    from outbox where job_id = ${jobId} and kind = 'start'`)
  return found!
}
/** How many seconds after a moment the row is due. */
const dueAfter = async (moment: number, jobId: string) => {
  const [found] = await db.execute<{ due: number }>(
    sql`select extract(epoch from next_at)::float8 as due from outbox where job_id = ${jobId} and kind = 'start'`
  )
  return found!.due - moment
}

describe('a new outbox row', () => {
  test('belongs to the nudge for two seconds, then to the relay as well', async () => {
    const before = await databaseTime(db)
    const id = await addJob(db, person)
    const mine: OutboxRow = { jobId: id, kind: 'start', mode: 'temporal', generation: 1, deliveries: 0 }
    expect(await fresh([id])).toEqual([mine])
    expect(await dueAfter(before, id)).toBeGreaterThan(1.99)
    await pass(-60)
    expect(await due(10)).toEqual([])
    await pass(62)
    expect(await due(10)).toEqual([mine])
  })

  test('of a later start is taken only when it is due', async () => {
    const id = await addJob(db, person, { submission: { notBefore: new Date(Date.now() + 60_000) } })
    await pass(3_600)
    expect(await fresh([id])).toEqual([])
    expect(await due(10)).toEqual([])
    await db.execute(sql`update outbox set due_at = now() - interval '1 second'`)
    expect(await due(10)).toHaveLength(1)
  })

  test('that was delivered is not taken by the nudge again', async () => {
    const id = await addJob(db, person)
    await markDelivered(db, [start(id)], 30)
    expect(await fresh([id])).toEqual([])
  })
})

describe('taking outbox rows', () => {
  test('by several relays gives each row to exactly one of them', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => addJob(db, person)))
    await pass(5)
    const passes = await Promise.all(Array.from({ length: 6 }, () => due(15)))
    const taken = passes.flat().map((found) => found.jobId)
    expect(new Set(taken).size).toBe(taken.length)
    const rest = await due(100)
    expect([...taken, ...rest.map((found) => found.jobId)].sort()).toEqual([...ids].sort())
    for (const found of passes) expect(found.length).toBeLessThanOrEqual(15)
  })

  test('reserves a row for ten seconds, so that another relay follows one that died', async () => {
    await addJob(db, person)
    await pass(5)
    expect(await due(10)).toHaveLength(1)
    expect(await due(10)).toHaveLength(0)
    await pass(10)
    expect(await due(10)).toHaveLength(1)
  })

  test('starts with what has been due longest', async () => {
    const ids: string[] = []
    for (let index = 0; index < 3; index++) ids.push(await addJob(db, person))
    await pass(10)
    await db.execute(sql`update outbox set next_at = next_at - interval '5 seconds' where job_id = ${ids[2]}`)
    expect((await due(1)).map((found) => found.jobId)).toEqual([ids[2]])
  })
})

describe('the outcome of a delivery', () => {
  test('is counted, and the row is checked again later', async () => {
    const id = await addJob(db, person)
    const before = await databaseTime(db)
    await markDelivered(db, [start(id)], 30)
    expect((await row(id)).deliveries).toBe(1)
    expect(await dueAfter(before, id)).toBeGreaterThan(29.99)
  })

  test('measures how long the target is unreachable without interruption', async () => {
    const id = await addJob(db, person)
    await markUnreachable(db, [start(id)], PAUSE)
    await pass(600)
    await markUnreachable(db, [start(id)], PAUSE)
    expect(await giveUp(id)).toEqual([])
    await markDeferred(db, [start(id)], 60)
    expect((await row(id)).unreachable).toBe(false)
    await markUnreachable(db, [start(id)], PAUSE)
    await pass(600)
    expect(await giveUp(id)).toEqual([])
    await markDelivered(db, [start(id)], 60)
    await markUnreachable(db, [start(id)], PAUSE)
    await pass(840)
    expect(await giveUp(id)).toEqual([])
    await pass(61)
    expect(await giveUp(id)).toEqual([id])
  })

  test('can be recorded for no rows and for deleted rows', async () => {
    await markDelivered(db, [], 1)
    await markDeferred(db, [], 1)
    await markUnreachable(db, [], PAUSE)
    const id = await addJob(db, person)
    await requestCancel(db, id)
    await markDelivered(db, [start(id)], 1)
  })
})

describe('the dispatch deadline', () => {
  test('fails a waiting job with dispatch_failed and releases its money', async () => {
    const id = await addJob(db, person, { cost: 5n })
    await markUnreachable(db, [start(id)], PAUSE)
    await pass(901)
    expect(await giveUp(id)).toEqual([id])
    expect(await jobStatus(db, id)).toBe('dispatch_failed')
    const [found] = await db.execute(sql`select error_code, error_message from jobs where id = ${id}`)
    expect(found).toEqual({
      error_code: 'dispatch_failed',
      error_message: 'the workflow engine could not be reached for 900 s; submit again later'
    })
    expect([...(await db.execute(sql`select 1 from outbox`))]).toEqual([])
    expect(await giveUp(id)).toEqual([])
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  test('never ends a job that was delivered while another one was ended', async () => {
    const [locked, delivered] = [await addJob(db, person), await addJob(db, await addPerson(db))]
    await markUnreachable(db, [start(locked), start(delivered)], PAUSE)
    await pass(901)
    let givingUp: Promise<string[]> = Promise.resolve([])
    await db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from jobs where id = ${locked} for no key update`)
      givingUp = sweepDispatchDeadline(db, 900, [start(locked), start(delivered)], { ...noFailures, failed: () => {} })
      await untilLockAwaited(db)
      await markDelivered(db, [start(delivered)], 60)
    })
    expect(await givingUp).not.toContain(delivered)
    expect(await jobStatus(db, delivered)).toBe('pending')
  })

  test('never ends a job that has begun', async () => {
    const id = await addJob(db, person)
    await markUnreachable(db, [start(id)], PAUSE)
    await pass(901)
    await beginJob(db, id, { generation: 1 })
    expect(await giveUp(id)).toEqual([])
    expect(await jobStatus(db, id)).toBe('running')
  })
})

test('a cancel has a row of its own until the job is final', async () => {
  const id = await addJob(db, person)
  await beginJob(db, id, { generation: 1 })
  await requestCancel(db, id)
  expect(await fresh([id])).toEqual([{ jobId: id, kind: 'cancel', mode: 'temporal', generation: 1, deliveries: 0 }])
  expect(await due(10)).toHaveLength(1)
})
