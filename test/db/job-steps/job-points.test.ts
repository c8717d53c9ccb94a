// The points of a sweep: each stored once, by the worker that has the job alone, within the limit of a job, and metered.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { donePoints, listPoints, type PointOutcome, storePoints } from '../../../db/job-steps/job-points.js'
import { beginJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { transition } from '../../../db/jobs/job-transition.js'
import { storageMismatches } from '../../../db/proofs/storage-proof.js'
import { jobs } from '../../../db/tables/jobs.js'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import { POINTS_RESULT_BYTES_MAX } from '../../../domain/jobs/params/points.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('job_points', { max: 20 })
const { db } = database
afterAll(() => database.drop())
const person = await addPerson(db)
const fence = { generation: 1 }

let id: string
beforeEach(async () => {
  id = await addJob(db, person)
  await db.update(jobs).set({ pointsTotal: 100 }).where(eq(jobs.id, id))
  await beginJob(db, id, fence)
})
const endAs = (to: JobStatus) => db.transaction((tx) => transition(tx, id, to))

const point = (index: number, outcome = `{"counts":{"0":${index}}}`, failed = false): PointOutcome => ({
  index,
  outcome,
  failed
})
const progress = async () => {
  const [row] = await db
    .select({ done: jobs.pointsDone, failed: jobs.pointsFailed, ms: jobs.pointsMs })
    .from(jobs)
    .where(eq(jobs.id, id))
  return row
}

test('a point that is stored again stays as it was, and is counted once', async () => {
  expect(await storePoints(db, id, fence, [point(2), point(0, '{"error":{}}', true)], 30)).toBe('stored')
  expect(await storePoints(db, id, fence, [point(0), point(1)], 12)).toBe('stored')
  expect(await listPoints(db, id)).toEqual([point(0, '{"error":{}}', true), point(1), point(2)])
  expect(await donePoints(db, id)).toEqual(new Set([0, 1, 2]))
  expect(await progress()).toEqual({ done: 3, failed: 1, ms: 42 })
})

test('the time of a batch without any point counts', async () => {
  expect(await storePoints(db, id, fence, [], 7)).toBe('stored')
  expect(await progress()).toEqual({ done: 0, failed: 0, ms: 7 })
})

test('twenty workers that store the same points at once store each once', async () => {
  const points = Array.from({ length: 50 }, (_, index) => point(index))
  const answers = await Promise.all(Array.from({ length: 20 }, () => storePoints(db, id, fence, points, 1)))
  expect(new Set(answers)).toEqual(new Set(['stored']))
  expect(await progress()).toEqual({ done: 50, failed: 0, ms: 20 })
})

test('a worker that has lost the job, and one whose job is being cancelled, store nothing', async () => {
  expect(await storePoints(db, id, { generation: 2 }, [point(0)], 1)).toBe('lost')
  expect(
    await storePoints(db, id, { generation: 1, lease: '01a20000-0000-7000-8000-000000000000' }, [point(0)], 1)
  ).toBe('lost')
  await requestCancel(db, id)
  expect(await storePoints(db, id, fence, [point(0)], 1)).toBe('lost')
  expect([...(await donePoints(db, id))]).toEqual([])
})

test('points beyond the limit of a job are refused as a whole, and what is stored stays', async () => {
  const large = `"${'x'.repeat(POINTS_RESULT_BYTES_MAX / 2 - 2)}"`
  expect(await storePoints(db, id, fence, [point(0, large)], 1)).toBe('stored')
  expect(await storePoints(db, id, fence, [point(1), point(2, large)], 1)).toBe('full')
  expect([...(await donePoints(db, id))]).toEqual([0])
  expect(await storePoints(db, id, fence, [point(1)], 1)).toBe('stored')
})

test('the storage of the team counts points while they are there', async () => {
  await storePoints(db, id, fence, [point(0), point(1)], 1)
  expect(await storageMismatches(db)).toEqual([])
  await db.execute(sql`delete from job_points where job_id = ${id}`)
  expect(await storageMismatches(db)).toEqual([])
})

test.each(['completed', 'failed'] as const)('a sweep that is %s has no stored points any more', async (to) => {
  await storePoints(db, id, fence, [point(0), point(1)], 1)
  expect(await endAs(to)).toBe('won')
  expect(await listPoints(db, id)).toEqual([])
  expect(await storageMismatches(db)).toEqual([])
})

test('a sweep that is cancelled has no stored points any more', async () => {
  await storePoints(db, id, fence, [point(0)], 1)
  await requestCancel(db, id)
  expect([...(await donePoints(db, id))]).toEqual([0])
  expect(await endAs('cancelled')).toBe('won')
  expect(await listPoints(db, id)).toEqual([])
})

test('the end of a sweep removes the points, too, that a batch stores at the same time', async () => {
  const { ending } = await db.transaction(async (tx) => {
    expect(await storePoints(tx, id, fence, [point(0)], 1)).toBe('stored')
    const ending = endAs('failed')
    await untilLockAwaited(db)
    return { ending }
  })
  expect(await ending).toBe('won')
  expect(await listPoints(db, id)).toEqual([])
})
