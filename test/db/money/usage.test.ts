// The sums of what teams ran and spent are the same before and after entries are added, with any concurrency.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, failJob } from '../../../db/job-steps/job-steps.js'
import { sumUsage, usageOf } from '../../../db/money/usage.js'
import { monthOf } from '../../../domain/money/month.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('usage_sums')
const { db } = database
afterAll(() => database.drop())

const fence = { generation: 1 }

test('each usage entry is added once, and what a team ran and spent stays the same', async () => {
  const ada = await addPerson(db)
  const teamId = await addTeam(db, ada)
  const run = async () => {
    const id = await addJob(db, ada, { submission: { teamId } })
    await beginJob(db, id, fence)
    return id
  }
  for (let turn = 0; turn < 3; turn++) await run()
  // A repeated claim, and an end without a cost, count nothing.
  const again = await run()
  await beginJob(db, again, fence)
  await failJob(db, again, fence, { code: 'execution_error', message: 'as planned' })
  await addJob(db, ada, { submission: { teamId } })
  await db.execute(sql`insert into ledger (team_id, job_id, kind, amount_micro, day)
    values (${teamId}, ${again}, 'adjust', 2500000, now()::date), (${teamId}, ${again}, 'reserve', 99, now()::date)`)

  const month = monthOf(new Date())
  const before = await usageOf(db, teamId, month)
  expect(before).toMatchObject([{ backend: 'local', provider: 'Local', jobs: 4, shots: 400, spend: 2_500_000n }])
  const summed = await Promise.all([sumUsage(db), sumUsage(db), sumUsage(db)])
  expect(summed.reduce((total, pass) => total + pass.summed, 0)).toBe(5)
  expect(await usageOf(db, teamId, month)).toEqual(before)

  await run()
  const after = await usageOf(db, teamId, month)
  expect(after).toEqual([{ ...before[0], jobs: 5, shots: 500 }])
  expect(await sumUsage(db)).toEqual({ summed: 1, more: false })
  expect(await usageOf(db, teamId, month)).toEqual(after)
  expect(await sumUsage(db)).toEqual({ summed: 0, more: false })
})
