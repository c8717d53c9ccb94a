// A cancel and an end of the same job at the same moment leave no outbox row once the job is final.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { eventually } from '../../support/eventually.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('outbox_race')
const { db } = database
afterAll(() => database.drop())

const fence = { generation: 1 }

test.each([
  ['completed', (id: string) => completeJob(db, id, fence, 'a'.repeat(64))],
  ['failed', (id: string) => failJob(db, id, fence, { code: 'execution_error', message: 'as planned' })],
  ['cancelled', (id: string) => recordCancelled(db, id, fence, 'stopped_before_provider')]
])('a job that is %s while its cancel commits leaves no outbox row', async (status, end) => {
  const id = await addJob(db, await addPerson(db))
  await beginJob(db, id, fence)
  let ending: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    await requestCancel(tx, id)
    // Begins before the cancel commits, and waits for its lock on the job.
    ending = end(id)
    await eventually(async () => {
      const [row] = await db.execute(
        sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      )
      return row !== undefined
    })
  })
  await ending
  const [job] = await db.execute<{ status: string }>(sql`select status from jobs where id = ${id}`)
  const left = await db.execute(sql`select kind from outbox where job_id = ${id}`)
  expect([job!.status, [...left]]).toEqual([status, []])
})
