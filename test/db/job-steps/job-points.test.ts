// The points of a sweep: each stored once, by the worker that has the job alone, within the limit of a job, and metered.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import {
  donePoints,
  listPoints,
  type PointOutcome,
  removePoints,
  storePoints
} from '../../../db/job-steps/job-points.js'
import { beginJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { storageMismatches } from '../../../db/proofs/storage-proof.js'
import { jobs } from '../../../db/tables/jobs.js'
import { POINTS_RESULT_BYTES_MAX } from '../../../domain/jobs/params/points.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('job_points', { max: 20 })
const { db } = database
afterAll(() => database.drop())
const person = await addPerson(db)
const fence = { generation: 1 }

let id: string
beforeEach(async () => {
  id = await addJob(db, person)
  await beginJob(db, id, fence)
})

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
  await removePoints(db, id)
  expect(await storageMismatches(db)).toEqual([])
  await storePoints(db, id, fence, [point(3)], 1)
  await db.execute(sql`delete from job_points where job_id = ${id}`)
  expect(await storageMismatches(db)).toEqual([])
})
