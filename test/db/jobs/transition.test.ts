// Who can write a status: the result of `transition` for every current status and every writer.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import type { Fence } from '../../../db/jobs/fence.js'
import { type Transition, transition } from '../../../db/jobs/job-transition.js'
import { isFinal, type JobStatus, jobStatuses, mayFollow } from '../../../domain/jobs/job-status.js'
import { addJob, addPerson, everythingAbout, forceStatus, newLease } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('transition')
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
let jobId: string
beforeEach(async () => {
  jobId = await addJob(db, person)
})

const move = (to: JobStatus, fence?: Fence) =>
  db.transaction((tx) => transition(tx, jobId, to, { ...(fence && { fence }) }))

const lease = newLease()
/** The job is in generation 2; `lease` is its holder as a direct job. */
const writers: { name: string; held: string | null; fence?: Fence; mine: boolean }[] = [
  { name: 'the current generation', held: null, fence: { generation: 2 }, mine: true },
  { name: 'a former generation', held: null, fence: { generation: 1 }, mine: false },
  { name: 'a later generation', held: null, fence: { generation: 3 }, mine: false },
  { name: 'the holder of the lease', held: lease, fence: { generation: 2, lease }, mine: true },
  { name: 'a worker whose lease was taken', held: lease, fence: { generation: 2, lease: newLease() }, mine: false },
  { name: 'a worker of a job without a lease', held: null, fence: { generation: 2, lease }, mine: false }
]

describe.each(writers)('$name', ({ held, fence, mine }) => {
  test('changes the status along the table when it has the job, and not otherwise', async () => {
    const surprises: string[] = []
    for (const from of jobStatuses)
      for (const to of jobStatuses) {
        // Written without a fence, so that it cannot be mistaken for the writer's own work.
        await forceStatus(db, jobId, {
          status: from,
          generation: 2,
          statusGeneration: null,
          lease: isFinal(from) ? null : held
        })
        const expected: Transition = mine && mayFollow(from, to) ? 'won' : 'lost'
        const answer = await move(to, fence)
        if (answer !== expected) surprises.push(`${from} -> ${to}: ${answer}`)
      }
    expect(surprises).toEqual([])
  })

  test('recognises its own earlier write, and no other', async () => {
    for (const to of ['running', 'cancelling', 'completed', 'failed', 'cancelled'] as const)
      for (const by of [1, 2, null]) {
        await forceStatus(db, jobId, {
          status: to,
          generation: 2,
          statusGeneration: by,
          lease: isFinal(to) ? null : held
        })
        const before = await everythingAbout(db, jobId)
        // A final status has cleared its lease; then the generation alone is the proof.
        const own = by === 2 && fence!.generation === 2 && (mine || isFinal(to))
        expect([to, by, await move(to, fence)]).toEqual([to, by, own ? 'already_mine' : 'lost'])
        expect(await everythingAbout(db, jobId)).toEqual(before)
      }
  })
})

describe('a writer without a fence', () => {
  test('changes the status along the table, and never takes a status for its own work', async () => {
    for (const from of jobStatuses)
      for (const to of jobStatuses) {
        await forceStatus(db, jobId, { status: from, generation: 2, statusGeneration: null })
        expect([from, to, await move(to)]).toEqual([from, to, mayFollow(from, to) ? 'won' : 'lost'])
      }
  })
})

describe('every change of a status', () => {
  test('appends exactly one event with the next number', async () => {
    await move('running', { generation: 1 })
    await move('running', { generation: 1 })
    await move('completed', { generation: 9 })
    await move('completed', { generation: 1 })
    const events = await db.execute(sql`select seq, status from job_events where job_id = ${jobId} order by seq`)
    expect([...events]).toEqual([
      { seq: 1, status: 'pending' },
      { seq: 2, status: 'running' },
      { seq: 3, status: 'completed' }
    ])
  })

  test('to a final status clears the lease and the outbox', async () => {
    await forceStatus(db, jobId, { status: 'running', lease })
    await move('failed', { generation: 1, lease })
    const [job] = await db.execute(
      sql`select lease_token, lease_expires_at, completed_at is not null as ended from jobs where id = ${jobId}`
    )
    expect(job).toEqual({ lease_token: null, lease_expires_at: null, ended: true })
    expect([...(await db.execute(sql`select 1 from outbox where job_id = ${jobId}`))]).toEqual([])
  })

  test('is all or nothing: a transaction that fails later leaves neither status nor event', async () => {
    const before = await everythingAbout(db, jobId)
    await expect(
      db.transaction(async (tx) => {
        await transition(tx, jobId, 'running', { fence: { generation: 1 } })
        throw new Error('later')
      })
    ).rejects.toThrow('later')
    expect(await everythingAbout(db, jobId)).toEqual(before)
  })

  test('wins once among twenty concurrent ones', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => move('cancelled')))
    expect(answers.filter((answer) => answer === 'won')).toHaveLength(1)
    expect([
      ...(await db.execute(sql`select count(*)::int as events from job_events where job_id = ${jobId}`))
    ]).toEqual([{ events: 2 }])
  })
})

test('a missing job is lost to every writer', async () => {
  jobId = newLease()
  expect(await move('running')).toBe('lost')
  expect(await move('running', { generation: 1 })).toBe('lost')
})
