// The proof of ledger and counters finds every fault, names it, and changes nothing.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type SQL, sql } from 'drizzle-orm'
import { loadMoney } from '../../../db/admin/held-money.js'
import { connect } from '../../../db/client.js'
import { deleteTeam } from '../../../db/deletion/team-deletion.js'
import { beginJob, completeJob, failJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { settle, settleHeld } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { addHeldJob, addKey, usd } from '../../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam, newLease } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('budget_proof')
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const fence = { generation: 1 }
/** Of the jobs of today: midnight can pass meanwhile. */
const now = new Date()
const today = now.toISOString().slice(0, 10)
const longAgo = new Date('2026-03-04T12:00:00Z')
let teamId: string

/** A change that only a bug, or an attacker with database access, can make. */
const tamper = (statement: SQL) =>
  db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(statement)
  })
const counter = (change: SQL) => tamper(sql`update budget_counters set ${change}`)

beforeEach(async () => {
  await tamper(sql`delete from ledger`)
  await db.execute(sql`truncate budget_counters, api_key_days, jobs cascade`)
  teamId = await addTeam(db, person)
})

const priced = (dollars: number, at = now) => ({ cost: usd(dollars), submission: { teamId }, at })
async function completed(dollars: number, at?: Date): Promise<string> {
  const jobId = await addJob(db, person, priced(dollars, at))
  await beginJob(db, jobId, fence)
  await completeJob(db, jobId, fence, 'a'.repeat(64))
  return jobId
}
const books = async () => [
  ...(await db.execute(sql`select * from budget_counters order by team_id, period, starts_on`)),
  ...(await db.execute(sql`select * from ledger order by id`)),
  ...(await db.execute(sql`select id, status, actual_cost_micro from jobs order by id`)),
  ...(await db.execute(sql`select * from api_key_days order by key_id, day`))
]

describe('correct ledger and counters', () => {
  test('pass both proofs, with jobs in every state, old days, keys and held money', async () => {
    const key = await addKey(db, person, teamId, usd(50))
    await addJob(db, person, priced(1))
    await addJob(db, person, { ...priced(1), key })
    await addJob(db, person, priced(0))
    await completed(2)
    await completed(3, longAgo)
    await addJob(db, person, priced(4, longAgo))
    await requestCancel(db, await addJob(db, person, { ...priced(5), key }))
    await failJob(db, await addJob(db, person, priced(6)), undefined, { code: 'execution_error', message: 'x' })
    const late = await addHeldJob(db, person, { ...priced(7), key })
    await db.transaction((tx) => settleHeld(tx, late, usd(6)))
    await addHeldJob(db, person, { ...priced(8), key })
    const before = await books()
    expect([await proveRecent(db), await proveAll(db)]).toEqual([[], []])
    expect(await books()).toEqual(before)
  })
})

test('stay correct when a team is deleted, without its keys and with held money', async () => {
  const key = await addKey(db, person, teamId, usd(50))
  await requestCancel(db, await addJob(db, person, { ...priced(5), key }))
  await addHeldJob(db, person, { ...priced(8), key })
  await db.transaction((tx) => deleteTeam(tx, teamId, 'system'))
  expect([await proveRecent(db), await proveAll(db)]).toEqual([[], []])
  expect((await loadMoney(db, 10)).held).toMatchObject({ jobs: 1, amount: usd(8) })
})

/** What is done to a job of one dollar, and what each proof reports about it. */
const faults: { name: string; fault: (jobId: string) => Promise<unknown>; recent?: string; all?: string }[] = [
  {
    name: 'reserved money that no job explains',
    fault: () => counter(sql`reserved_micro = reserved_micro + 5 where period = 'day'`),
    recent: '$1.000005 counted as reserved, but $1.00 for its open and held jobs',
    all: '$1.000005 reserved and $0.00 spent by the counter, $1.00 and $0.00 by the ledger'
  },
  {
    name: 'a reservation that is not counted',
    fault: () => counter(sql`reserved_micro = 0 where period = 'day'`),
    recent: '$0.00 counted as reserved, but $1.00 for its open and held jobs',
    all: '$0.00 reserved and $0.00 spent by the counter, $1.00 and $0.00 by the ledger'
  },
  {
    name: 'spent money that the ledger does not have',
    fault: () => counter(sql`spent_micro = 7 where period = 'day'`),
    recent: '$1.00 reserved and $0.000007 spent by the counter, $1.00 and $0.00 by the ledger',
    all: '$1.00 reserved and $0.000007 spent by the counter, $1.00 and $0.00 by the ledger'
  },
  {
    name: 'a month that is not the sum of its days',
    fault: () => counter(sql`reserved_micro = 3 where period = 'month'`),
    recent: '$0.000003 reserved and $0.00 spent by the counter, $1.00 and $0.00 by the ledger',
    all: '$0.000003 reserved and $0.00 spent by the counter, $1.00 and $0.00 by the ledger'
  },
  {
    name: 'missing counters',
    fault: () => tamper(sql`delete from budget_counters`),
    recent: '$0.00 counted as reserved, but $1.00',
    all: '$0.00 reserved and $0.00 spent by the counter, $1.00 and $0.00 by the ledger'
  },
  {
    name: 'an entry without a reservation',
    fault: () =>
      tamper(sql`insert into ledger (team_id, job_id, kind, amount_micro, day)
        values (${teamId}, ${newLease()}, 'adjust', 9, ${today})`),
    recent: '$1.00 reserved and $0.00 spent by the counter, $1.00 and $0.000009 by the ledger',
    all: 'does not exist, and the ledger has $0.00 reserved and $0.000009 spent for it'
  },
  {
    name: 'a reservation of a job that does not exist',
    fault: (jobId) => tamper(sql`delete from jobs where id = ${jobId}`),
    recent: 'does not exist, and the ledger has $1.00 reserved and $0.00 spent for it',
    all: 'does not exist, and the ledger has $1.00 reserved and $0.00 spent for it'
  },
  {
    name: 'a job that ended with its reservation left over',
    fault: (jobId) => tamper(sql`update jobs set status = 'failed', actual_cost_micro = 0 where id = ${jobId}`),
    recent: 'is failed, and $1.00 is still reserved for it',
    all: 'is failed, and $1.00 is still reserved for it'
  },
  {
    name: 'a job that runs and is settled already',
    fault: (jobId) => db.transaction((tx) => settle(tx, jobId, 250_000n)),
    all: 'is pending, and settled already: $0.25 spent'
  },
  {
    name: 'a record with another cost than the ledger',
    fault: async (jobId) => {
      await requestCancel(db, jobId)
      await tamper(sql`update jobs set actual_cost_micro = 500000 where id = ${jobId}`)
    },
    all: 'is cancelled and has cost $0.50, the ledger says $0.00'
  },
  {
    name: 'a record that is held although it is settled',
    fault: async (jobId) => {
      await requestCancel(db, jobId)
      await tamper(
        sql`update jobs set actual_cost_micro = null, cancel_outcome = 'provider_unknown' where id = ${jobId}`
      )
    },
    all: 'is cancelled and waits for its figure, but the ledger has it settled: $0.00 spent'
  },
  {
    name: 'a job with a price and without an entry in the ledger',
    fault: (jobId) => tamper(sql`delete from ledger where job_id = ${jobId}`),
    recent: '$1.00 counted as reserved, but $0.00 for its open and held jobs',
    all: 'is pending, costs $1.00, and the ledger has no entry'
  }
]

describe('a proof finds one fault, and changes nothing', () => {
  test.each(faults)('$name', async ({ fault, recent, all }) => {
    const jobId = await addJob(db, person, priced(1))
    await fault(jobId)
    const before = await books()
    const found = [(await proveRecent(db))!.join('\n'), (await proveAll(db))!.join('\n')]
    if (recent) expect(found[0]).toContain(recent)
    if (all) expect(found[1]).toContain(all)
    expect((await proveAll(db, { teamsAtOnce: 1, jobsAtOnce: 1 }))!.sort().join('\n')).toBe(
      found[1]!.split('\n').sort().join('\n')
    )
    expect(await books()).toEqual(before)
  })

  test('on an old day: in the daily proof, and in the minutely one while something is reserved there', async () => {
    await completed(1, longAgo)
    await counter(sql`spent_micro = spent_micro + 1 where starts_on < '2026-03-05'`)
    expect(await proveRecent(db)).toEqual([])
    expect((await proveAll(db))!.join()).toContain('day of 2026-03-04: $0.00 reserved and $1.000001 spent')
    const jobId = await addJob(db, person, priced(1, longAgo))
    await tamper(sql`update jobs set status = 'failed', actual_cost_micro = 0 where id = ${jobId}`)
    expect((await proveRecent(db))!.join()).toContain(`job ${jobId} is failed, and $1.00 is still reserved for it`)
  })

  test("in a key's day", async () => {
    const key = await addKey(db, person, teamId, usd(50))
    await addJob(db, person, { ...priced(1), key })
    await tamper(sql`update api_key_days set reserved_micro = 0`)
    expect(await proveRecent(db)).toEqual([
      `API key ${key.id}, ${today}: $0.00 counted as reserved, but $1.00 for its open and held jobs`
    ])
    expect((await proveAll(db))!.join()).toContain(`API key ${key.id}, day of ${today}: $0.00 reserved`)
  })
})

describe('an administrator is notified of', () => {
  test('a job that exceeded its reservation, for a week', async () => {
    const jobId = await addHeldJob(db, person, priced(7))
    await db.transaction((tx) => settleHeld(tx, jobId, usd(9.5)))
    expect(await proveRecent(db)).toEqual([`job ${jobId} of team ${teamId} cost $2.50 more than was reserved for it`])
    await tamper(sql`update ledger set at = at - interval '8 days'`)
    expect(await proveRecent(db)).toEqual([])
  })

  test('held money, once its provider is no longer queried', async () => {
    const jobId = await addHeldJob(db, person, priced(7))
    expect(await proveRecent(db)).toEqual([])
    await db.execute(sql`update provider_tasks set ask_at = null`)
    expect(await proveRecent(db)).toEqual([
      `job ${jobId} of team ${teamId}: $7.00 is held, and its provider is no longer queried; ` +
        `settle it with what the provider billed: qjob admin settle ${jobId} USD`
    ])
  })
})

test('only one worker at a time runs a proof', async () => {
  const other = connect(database.url, { max: 1 })
  try {
    await other.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(7104001)`)
      expect(await proveRecent(db)).toBeNull()
      expect(await proveAll(db)).toEqual([])
    })
    expect(await proveRecent(db)).toEqual([])
  } finally {
    await other.close()
  }
})
