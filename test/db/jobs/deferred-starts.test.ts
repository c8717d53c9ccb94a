// Jobs that are due and deferred: their team is at its limit, or their backend is offline.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import {
  findFresh,
  markDelivered,
  markUnreachable,
  sweepDispatchDeadline,
  takeDue
} from '../../../db/job-steps/outbox.js'
import { restartWorkflow } from '../../../db/job-steps/stalled-workflows.js'
import { releaseDeferred } from '../../../db/jobs/deferred-starts.js'
import { noFailures } from '../../support/failures.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('held_starts', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const teamId = await addTeam(db, person)
const others = await addTeam(db, person)
beforeEach(async () => {
  await db.execute(sql`truncate jobs cascade`)
  await db.execute(sql`update backends set status = 'online', is_available = true where slug in ('local', 'aer-mps')`)
})

const MAX = 3
const add = (submission: { teamId?: string; backend?: string } = {}) =>
  addJob(db, person, { submission: { teamId, ...submission } })
const several = async (count: number, submission: { teamId?: string } = {}): Promise<string[]> => {
  const ids: string[] = []
  while (ids.length < count) ids.push(await add(submission))
  return ids
}
const nudged = async (ids: string[], max = MAX) => (await findFresh(db, ids, max)).map(({ jobId }) => jobId)
const relayed = async (max = MAX) => (await takeDue(db, 'temporal', 200, max)).rows.map(({ jobId }) => jobId).sort()
const delivered = (ids: string[]) =>
  markDelivered(
    db,
    ids.map((jobId) => ({ jobId, kind: 'start' })),
    30
  )
const start = (jobId: string) => ({ jobId, kind: 'start' as const })
const begun = async (ids: string[]) => {
  for (const id of ids) expect(await beginJob(db, id, { generation: 1 })).toBe('begin')
}
const completed = (id: string) => completeJob(db, id, { generation: 1 }, 'a'.repeat(64))
const soonDue = () => db.execute(sql`update outbox set next_at = now() where held_reason is null`)
const reason = async (id: string) =>
  (await db.execute<{ held_reason: string | null }>(sql`select held_reason from outbox where job_id = ${id}`))[0]
    ?.held_reason

describe('a team at its limit', () => {
  test('has the limit that an administrator set for it, and other teams have that of the installation', async () => {
    const [limited, free] = [await addTeam(db, person), await addTeam(db, person)]
    await db.execute(sql`update teams set running_jobs_max = 1 where id = ${limited}`)
    const ids = [...(await several(2, { teamId: limited })), ...(await several(2, { teamId: free }))]
    expect((await nudged(ids)).sort()).toEqual([ids[0], ids[2], ids[3]])
    await db.execute(sql`update teams set running_jobs_max = 2 where id = ${limited}`)
    expect(await releaseDeferred(db, MAX)).toBe(1)
    expect(await relayed()).toContain(ids[1])
  })

  test('has further jobs deferred in the order of submission, by nudge and relay alike', async () => {
    const ids = await several(5)
    expect((await nudged(ids)).sort()).toEqual(ids.slice(0, 3))
    expect(await Promise.all(ids.map(reason))).toEqual([null, null, null, 'concurrency_limit', 'concurrency_limit'])
    await db.execute(sql`update outbox set held_reason = null`)
    await soonDue()
    expect(await relayed()).toEqual(ids.slice(0, 3))
  })

  test('counts running jobs, jobs being cancelled, and delivered starts that have not begun', async () => {
    const ids = await several(3)
    await delivered(ids)
    await begun(ids.slice(0, 2))
    await requestCancel(db, ids[0]!)
    expect(await nudged([await add()])).toEqual([])
    expect(await nudged([await add()], MAX + 1)).toEqual([])
    // The earlier one is deferred, and goes first.
    expect(await releaseDeferred(db, MAX + 1)).toBe(1)
    expect(await relayed(MAX + 1)).toHaveLength(1 + 1)
  })

  test('has exactly one deferred job released by each end of a job, in every outcome', async () => {
    const ids = await several(7)
    const running = await nudged(ids)
    await delivered(running)
    await begun(running)
    expect(await relayed()).toEqual([])
    await completed(ids[0]!)
    expect(await relayed()).toEqual([ids[3]])
    await delivered([ids[3]!])
    await failJob(db, ids[1]!, { generation: 1 }, { code: 'execution_error', message: 'no' })
    expect(await relayed()).toEqual([ids[4]])
    await delivered([ids[4]!])
    // Delivered and not begun.
    await requestCancel(db, ids[3]!)
    expect(await relayed()).toEqual([ids[5]])
    expect(await reason(ids[6]!)).toBe('concurrency_limit')
  })

  test('can cancel a deferred job, which leaves no outbox row behind', async () => {
    const ids = await several(4)
    await delivered(await nudged(ids))
    expect(await requestCancel(db, ids[3]!)).toBe('cancelled')
    expect([...(await db.execute(sql`select 1 from outbox where job_id = ${ids[3]}`))]).toEqual([])
  })

  test('never starts a newer job before a deferred one, even when there is room', async () => {
    const ids = await several(4)
    const running = await nudged(ids)
    await delivered(running)
    await begun(running)
    await completed(ids[0]!)
    expect(await nudged([await add()])).toEqual([])
    expect(await relayed()).toEqual([ids[3]])
  })

  test('does not affect other teams, however many jobs it has deferred', async () => {
    await several(30)
    await soonDue()
    await relayed()
    const theirs = await several(2, { teamId: others })
    expect((await nudged(theirs)).sort()).toEqual(theirs)
    await soonDue()
    const { rows, full } = await takeDue(db, 'temporal', 5, MAX)
    // Deferred rows take no place among the due rows.
    expect([rows.map(({ jobId }) => jobId), full]).toEqual([expect.arrayContaining(theirs), true])
  })

  test('has deferred jobs released by the sweep when no event did', async () => {
    const ids = await several(10)
    await delivered(await nudged(ids))
    expect(await releaseDeferred(db, MAX)).toBe(0)
    expect(await releaseDeferred(db, 5)).toBe(2)
    expect(await releaseDeferred(db, 5)).toBe(0)
    expect(await relayed(5)).toEqual(ids.slice(3, 5))
    expect(await releaseDeferred(db, 1_000)).toBe(5)
  })

  test('still passes redeliveries, new generations and cancels', async () => {
    const ids = await several(3)
    await delivered(await nudged(ids))
    await soonDue()
    expect(await relayed(1)).toEqual(ids)
    await begun(ids)
    expect(await restartWorkflow(db, ids[0]!, 1, 'lost')).toBe('restarted')
    await requestCancel(db, ids[1]!)
    expect(await nudged(ids, 1)).toEqual(expect.arrayContaining([ids[0], ids[1]]))
  })

  test('exceeds it by no more than concurrent dispatchers take at once', async () => {
    const ids = await several(40)
    const batches = Array.from({ length: 4 }, (_, at) => ids.slice(at * 10, at * 10 + 10))
    const passed = (await Promise.all(batches.map((batch) => nudged(batch, 10)))).flat()
    expect(passed.length).toBeGreaterThanOrEqual(10)
    expect(new Set(passed).size).toBe(passed.length)
    await delivered(passed)
    expect(await nudged([await add()], 10)).toEqual([])
  })
})

describe('an unavailable backend', () => {
  test.each([
    ["status = 'offline'", 'offline'],
    ["status = 'maintenance'", 'in maintenance'],
    ['is_available = false', 'not available']
  ])('(%s) defers its due jobs until it is back, and no others', async (change) => {
    const id = await add({ backend: 'aer-mps' })
    const other = await add()
    await db.execute(sql.raw(`update backends set ${change} where slug = 'aer-mps'`))
    expect(await nudged([id, other])).toEqual([other])
    await delivered([other])
    expect(await reason(id)).toBe('backend_offline')
    expect(await releaseDeferred(db, MAX)).toBe(0)
    await db.execute(sql`update backends set status = 'online', is_available = true where slug = 'aer-mps'`)
    expect(await releaseDeferred(db, MAX)).toBe(1)
    expect(await relayed()).toEqual([id])
    expect(await reason(id)).toBeNull()
  })

  test('uses no slot of the limit, and its jobs block no others', async () => {
    const ids = [await add({ backend: 'aer-mps' }), await add({ backend: 'aer-mps' }), ...(await several(3))]
    await db.execute(sql`update backends set status = 'offline' where slug = 'aer-mps'`)
    expect((await nudged(ids)).sort()).toEqual(ids.slice(2))
  })

  test('that is retired gets its jobs delivered, so that they fail', async () => {
    const id = await add({ backend: 'aer-mps' })
    await db.execute(sql`update backends set status = 'offline', is_retired = true where slug = 'aer-mps'`)
    expect(await nudged([id])).toEqual([id])
    await db.execute(sql`update backends set is_retired = false where slug = 'aer-mps'`)
  })
})

test('the time that a job is deferred does not count as time that its target was unreachable', async () => {
  const [first, second] = await several(2)
  for (const id of [first!, second!])
    await markUnreachable(db, [{ jobId: id, kind: 'start' }], { minSeconds: 0, maxSeconds: 0 })
  await db.execute(sql`update outbox set unreachable_since = now() - interval '899 seconds', next_at = now()`)
  expect(await relayed(1)).toEqual([first])
  await db.execute(sql`update outbox set unreachable_since = unreachable_since - interval '1 hour'`)
  expect(await sweepDispatchDeadline(db, 900, [first!, second!].map(start), noFailures)).toEqual([first])
})

test('two teams with more jobs than their limits complete all of them under concurrent dispatchers, workers and cancels', async () => {
  const LIMIT = 4
  const teams = [teamId, others]
  const ids = await Promise.all(Array.from({ length: 60 }, (_, at) => add({ teamId: teams[at % 2]! })))
  const queue: string[] = []
  let most = 0
  const left = async () => {
    const rows = await db.execute<{ open: number; under_way: number }>(sql`
      select count(*)::int as open, (count(*) filter (where status in ('running', 'cancelling'))
        + (select count(*) from outbox where outbox.team_id = jobs.team_id and deliveries > 0))::int as under_way
      from jobs where status not in ('completed', 'cancelled') group by team_id`)
    most = Math.max(most, ...rows.map((row) => row.under_way))
    return rows.reduce((sum, row) => sum + row.open, 0)
  }
  const deliver = async (passed: { jobId: string }[]) => {
    await delivered(passed.map(({ jobId }) => jobId))
    queue.push(...passed.map(({ jobId }) => jobId))
  }
  let over = false
  const until = async (work: () => Promise<unknown>) => {
    while (!over) await work()
  }
  await soonDue()
  const deadline = performance.now() + 100_000
  await Promise.all([
    until(async () => deliver((await takeDue(db, 'temporal', 7, LIMIT)).rows)),
    until(async () => deliver((await takeDue(db, 'temporal', 7, LIMIT)).rows)),
    until(async () => deliver(await findFresh(db, ids.slice(0, 10), LIMIT))),
    until(() => releaseDeferred(db, LIMIT)),
    ...Array.from({ length: 3 }, (_, runner) =>
      until(async () => {
        const id = queue.shift()
        if (!id) return left()
        // Some are cancelled between delivery and begin.
        if (runner === 0) await requestCancel(db, id)
        else if ((await beginJob(db, id, { generation: 1 })) === 'begin') await completed(id)
        return null
      })
    ),
    until(async () => {
      over = (await left()) === 0 || performance.now() > deadline
    })
  ])
  expect(await left()).toBe(0)
  expect([...(await db.execute(sql`select 1 from outbox`))]).toEqual([])
  // Three dispatchers run at once, each within the limit.
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(3 * LIMIT)
}, 120_000)
