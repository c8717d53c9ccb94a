// What the database itself refuses every writer.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { postgresCode } from '../../db/client.js'
import { jobStatuses, mayFollow } from '../../domain/jobs/job-status.js'
import { addJob, addPerson, forceStatus } from '../support/jobs/rows.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('guards')
const { db } = database
afterAll(() => database.drop())

const refusal = async (statement: Promise<unknown>): Promise<string | null> => {
  try {
    await statement
    return null
  } catch (error) {
    return postgresCode(error)
  }
}

test('the database allows exactly the steps that domain/jobs/job-status.ts lists, of all 49', async () => {
  const jobId = await addJob(db, await addPerson(db))
  const disagreements: string[] = []
  for (const from of jobStatuses)
    for (const to of jobStatuses) {
      await forceStatus(db, jobId, { status: from })
      const code = await refusal(db.execute(sql`update jobs set status = ${to} where id = ${jobId}`))
      // Writing the same status again is not a step.
      const allowed = from === to || mayFollow(from, to)
      if (code !== (allowed ? null : '23514')) disagreements.push(`${from} -> ${to}: ${code}`)
    }
  expect(disagreements).toEqual([])
})

test('an unknown status cannot be written, on insert or later', async () => {
  const jobId = await addJob(db, await addPerson(db))
  expect(await refusal(db.execute(sql`update jobs set status = 'paused' where id = ${jobId}`))).toBe('23514')
  expect(
    await refusal(
      db.execute(sql`insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'status', 'paused'))).*
        from jobs j where id = ${jobId}`)
    )
  ).toBe('23514')
})

describe('the ledger', () => {
  test('is append-only: no row can be changed or deleted', async () => {
    const jobId = await addJob(db, await addPerson(db), { cost: 5n })
    expect(await refusal(db.execute(sql`update ledger set amount_micro = 0 where job_id = ${jobId}`))).toBe('23514')
    expect(await refusal(db.execute(sql`delete from ledger where job_id = ${jobId}`))).toBe('23514')
    expect(await refusal(db.execute(sql`truncate ledger`))).toBe('23514')
    expect([
      ...(await db.execute(sql`select amount_micro::int as amount from ledger where job_id = ${jobId}`))
    ]).toEqual([{ amount: 5 }])
  })

  test('holds one row per job, task, attempt and kind', async () => {
    const jobId = await addJob(db, await addPerson(db), { cost: 5n })
    const again = sql`insert into ledger (team_id, job_id, kind, amount_micro, day)
      select team_id, job_id, kind, amount_micro, day from ledger where job_id = ${jobId}`
    expect(await refusal(db.execute(again))).toBe('23505')
  })
})

test('no counter and no access code can fall below zero', async () => {
  await addJob(db, await addPerson(db), { cost: 5n })
  expect(await refusal(db.execute(sql`update budget_counters set reserved_micro = -1`))).toBe('23514')
  expect(await refusal(db.execute(sql`insert into access_codes (code, remaining_uses) values ('x', -1)`))).toBe('23514')
})

test('a team has at most one owner', async () => {
  const [ada, bob] = [await addPerson(db), await addPerson(db)]
  await addJob(db, ada)
  expect(
    await refusal(
      db.execute(sql`insert into members (team_id, user_id, role)
        select team_id, ${bob.userId}, 'owner' from members where user_id = ${ada.userId}`)
    )
  ).toBe('23505')
})
