// Every step of the status table, allowed and forbidden, for jobs of both modes: through `transition`, and directly in
// the table, where a trigger decides.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { postgresCode } from '../../../db/client.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { transition } from '../../../db/jobs/job-transition.js'
import { isFinal, jobStatuses, mayFollow } from '../../../domain/jobs/job-status.js'
import { addJob, addPerson, everythingAbout, forceStatus, newLease } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('transition_table')
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const pairs = jobStatuses.flatMap((from) => jobStatuses.map((to) => ({ from, to, allowed: mayFollow(from, to) })))
const lease = newLease()
const events = async (jobId: string) =>
  (
    await db.execute(sql`select seq, type, status from job_events where job_id = ${jobId} order by seq desc limit 1`)
  )[0]!

test('the status table allows eleven of forty-nine steps', () => {
  expect(pairs.filter(({ allowed }) => allowed).map(({ from, to }) => `${from} -> ${to}`)).toEqual([
    'pending -> running',
    'pending -> cancelling',
    'pending -> failed',
    'pending -> cancelled',
    'pending -> dispatch_failed',
    'running -> cancelling',
    'running -> completed',
    'running -> failed',
    'cancelling -> completed',
    'cancelling -> failed',
    'cancelling -> cancelled'
  ])
  expect(jobStatuses.filter(isFinal)).toEqual(['completed', 'failed', 'cancelled', 'dispatch_failed'])
})

describe.each([
  { mode: 'direct', held: lease, fence: { generation: 2, lease } },
  { mode: 'temporal', held: null, fence: { generation: 2 } }
] as { mode: 'direct' | 'temporal'; held: string | null; fence: Fence }[])('a $mode job', ({ mode, held, fence }) => {
  let jobId: string
  beforeEach(async () => {
    jobId = await addJob(db, person, { cost: 3n, submission: { mode } })
  })
  const at = (status: (typeof pairs)[number]['from']) =>
    forceStatus(db, jobId, { status, generation: 2, statusGeneration: null, lease: isFinal(status) ? null : held })

  test.each([
    ['its worker', true],
    ['another writer', false]
  ])('by %s: an allowed step adds one event, a forbidden one leaves no trace', async (_who, fenced) => {
    for (const { from, to, allowed } of pairs) {
      await at(from)
      const before = await everythingAbout(db, jobId)
      const last = await events(jobId)
      const answer = await db.transaction((tx) => transition(tx, jobId, to, fenced ? { fence } : {}))
      // A final status has cleared its lease, and no worker can write any more.
      expect([from, to, answer]).toEqual([from, to, allowed ? 'won' : 'lost'])
      if (allowed) expect(await events(jobId)).toEqual({ seq: Number(last.seq) + 1, type: 'status', status: to })
      else expect(await everythingAbout(db, jobId)).toEqual(before)
    }
  })

  test('directly in the table: the database refuses every step that the table does not list', async () => {
    for (const { from, to, allowed } of pairs) {
      await at(from)
      const before = await everythingAbout(db, jobId)
      const code = await db
        .execute(sql`update jobs set status = ${to} where id = ${jobId}`)
        .then(() => null)
        .catch(postgresCode)
      expect([from, to, code]).toEqual([from, to, allowed || from === to ? null : '23514'])
      if (!allowed) expect(await everythingAbout(db, jobId)).toEqual(before)
    }
  })

  test('the guard cannot be bypassed by a list of columns or through another table', async () => {
    await at('completed')
    for (const statement of [
      sql`update jobs set shots = 5, status = 'running' where id = ${jobId}`,
      sql`with other as (select 'running' as status) update jobs set status = other.status from other where id = ${jobId}`,
      sql`insert into jobs select * from jobs where id = ${jobId} on conflict (id) do update set status = 'running'`,
      sql`merge into jobs using (select ${jobId}::uuid as id) other on jobs.id = other.id
        when matched then update set status = 'running'`
    ])
      expect(await db.execute(statement).then(() => null, postgresCode)).toBe('23514')
  })
})
