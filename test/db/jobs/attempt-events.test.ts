// The events of a job's attempts: numbered without gaps under concurrent writers.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { restartWorkflow } from '../../../db/job-steps/stalled-workflows.js'
import { closeAttempt, completeAttempt, listAttempts, openAttempt } from '../../../db/jobs/attempts.js'
import { eventsAfter } from '../../../db/jobs/job-events.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('attempt_events', { max: 20 })
const { db } = database
afterAll(() => database.drop())
const person = await addPerson(db)
const fence = { generation: 1 }

let id: string
beforeEach(async () => {
  id = await addJob(db, person)
  await beginJob(db, id, fence)
})

/** `status`, or `status/attempt:state` for an attempt's event. */
const story = async () => {
  const events = await eventsAfter(db, id, 0)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  const [job] = await db.execute(sql`select event_seq from jobs where id = ${id}`)
  expect(job!.event_seq).toBe(events.length)
  const times = events.map(({ at }) => at.getTime())
  expect(times).toEqual([...times].sort((a, b) => a - b))
  return events.map(({ type, status, attempt, attemptState }) =>
    type === 'status' ? status : `${status}/${attempt}:${attemptState}`
  )
}
const lost = { code: 'execution_service_lost', message: 'gone' } as const

describe('the events of a job', () => {
  test('include the attempt that completes it', async () => {
    const number = (await openAttempt(db, id, fence))!
    const sha256 = (await completeAttempt(db, id, number, '{}'))!
    await completeJob(db, id, fence, sha256)
    expect(await story()).toEqual(['pending', 'running', 'running/1:running', 'running/1:completed', 'completed'])
  })

  test('include each lost attempt, and the next', async () => {
    await openAttempt(db, id, fence)
    await closeAttempt(db, id, 1, 'lost', lost, 1_000)
    await openAttempt(db, id, fence)
    // No worker saw the end of the second one.
    expect(await openAttempt(db, id, fence)).toBe(3)
    await closeAttempt(db, id, 3, 'failed', lost)
    await failJob(db, id, fence, lost)
    expect(await story()).toEqual([
      'pending',
      'running',
      ...['running/1:running', 'running/1:lost', 'running/2:running', 'running/2:lost', 'running/3:running'],
      ...['running/3:failed', 'failed']
    ])
    expect((await listAttempts(db, id)).map(({ state, backoffMs }) => [state, backoffMs])).toEqual([
      ['lost', 1_000],
      ['lost', 2_000],
      ['failed', null]
    ])
  })

  test.each([
    ['fails', () => failJob(db, id, fence, lost), 'running/1:lost', 'failed'],
    [
      'is cancelled',
      () => recordCancelled(db, id, fence, 'stopped_before_provider'),
      'cancelling/1:cancelled',
      'cancelled'
    ]
  ])('end with the end of a job that %s in the middle of an attempt', async (_how, end, attempt, status) => {
    await openAttempt(db, id, fence)
    await end()
    const lines = await story()
    expect(lines.slice(-2)).toEqual([attempt, status])
  })

  test('do not include the close of an attempt by a worker that has lost the job, or a second close', async () => {
    await openAttempt(db, id, fence)
    await restartWorkflow(db, id, 1, 'lost')
    expect(await closeAttempt(db, id, 1, 'lost', lost)).toBe(false)
    expect(await completeAttempt(db, id, 1, '{}')).toBeNull()
    expect(await openAttempt(db, id, fence)).toBeNull()
    expect(await story()).toEqual(['pending', 'running', 'running/1:running'])
    expect(await openAttempt(db, id, { generation: 2 })).toBe(2)
    expect(await closeAttempt(db, id, 2, 'failed', lost)).toBe(true)
    expect(await closeAttempt(db, id, 2, 'failed', lost)).toBe(false)
    expect((await story()).slice(3)).toEqual(['running/1:lost', 'running/2:running', 'running/2:failed'])
  })

  test('have no gap and no duplicate under concurrent writers', async () => {
    for (let round = 0; round < 12; round++) {
      id = await addJob(db, person)
      await beginJob(db, id, fence)
      await openAttempt(db, id, fence)
      const quietly = (work: Promise<unknown>) => work.catch(() => null)
      await Promise.all([
        quietly(closeAttempt(db, id, 1, 'lost', lost, 1_000)),
        quietly(openAttempt(db, id, fence)),
        quietly(openAttempt(db, id, fence)),
        quietly(completeAttempt(db, id, 1, '{}')),
        quietly(requestCancel(db, id)),
        quietly(round % 2 ? failJob(db, id, fence, lost) : recordCancelled(db, id, fence, 'stopped_before_provider'))
      ])
      const lines = await story()
      expect(lines.filter((event) => /^(failed|cancelled)$/.test(event))).toHaveLength(1)
      expect(lines.at(-1)).toMatch(/^(failed|cancelled)$/)
      const attempts = await listAttempts(db, id)
      expect(attempts.filter(({ state }) => state === 'running')).toEqual([])
      // Each began once and ended once.
      for (const { number, state } of attempts)
        expect(lines.filter((event) => event.includes(`/${number}:`)).map((event) => event.split(':')[1])).toEqual([
          'running',
          state
        ])
    }
  })
})
