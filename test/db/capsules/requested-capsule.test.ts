// A job that completes with a capsule of up to 60 MiB, and the other paid jobs of its team.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob } from '../../../db/job-steps/job-steps.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { jobStatus } from '../../../db/jobs/jobs.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { bellResult } from '../../support/capsules/capsule-rows.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('requested_capsule')
const { db } = database
afterAll(() => database.drop())

test('paid jobs of the team are recorded and settled while the files of a requested capsule are written', async () => {
  const person = await addPerson(db)
  const fence = { generation: 1 }
  const id = await addJob(db, person, { cost: 5n, submission: { capsule: { name: 'slow' } } })
  await beginJob(db, id, fence)
  const sha256 = await completeAttempt(db, id, (await openAttempt(db, id, fence))!, bellResult())
  await db.execute(
    sql.raw(`create function write_slowly() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(42); return new; end $$`)
  )
  await db.execute(
    sql.raw(`create trigger write_slowly before insert on capsule_files for each row
    execute function write_slowly()`)
  )
  let completing: Promise<unknown> = Promise.resolve()
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(42)`)
    completing = completeJob(db, id, fence, sha256!)
    await untilLockAwaited(db)
    const other = await addJob(db, person, { cost: 5n })
    await beginJob(db, other, fence)
    await completeJob(db, other, fence, 'a'.repeat(64))
    expect(await jobStatus(db, id)).toBe('running')
  })
  expect(await completing).toBe('won')
  const [job] = await db.execute(sql`select status, capsule_id is not null as packaged from jobs where id = ${id}`)
  expect(job).toEqual({ status: 'completed', packaged: true })
  expect([...(await ledgerMismatches(db))]).toEqual([])
})
