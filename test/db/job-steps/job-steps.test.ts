// Every step of a job, each run twice: the second time changes nothing. The money follows the job in every outcome.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import {
  beginJob,
  completeJob,
  failJob,
  failUnclaimed,
  recordCancelled,
  requestCancel
} from '../../../db/job-steps/job-steps.js'
import { closeAttempt, completeAttempt, openAttempt, resultText } from '../../../db/jobs/attempts.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { jobStatus, loadJobRun } from '../../../db/jobs/jobs.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { addJob, addPerson, everythingAbout, newLease } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('job_steps', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const fence: Fence = { generation: 1 }
const error = { code: 'execution_error', message: 'the circuit is not valid' } as const
let jobId: string

const setPrice = (micro: number) => db.execute(sql`update backends set task_fee_micro = ${micro} where slug = 'local'`)

/** Spent and reserved, in micro-USD, over all jobs of the person: a test can begin on one day and end on the next. */
const booked = async () => {
  const [row] = await db.execute(sql`select sum(spent_micro)::int as spent, sum(reserved_micro)::int as reserved
    from budget_counters where period = 'day'`)
  return row
}

beforeEach(async () => {
  // A priced job without traces of previous ones.
  await db.execute(sql`truncate budget_counters, jobs cascade`)
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`delete from ledger`)
  })
  await setPrice(0)
  jobId = await addJob(db, person, { cost: 700n })
})

const steps: {
  name: string
  first: () => Promise<unknown>
  step: () => Promise<unknown>
  answers: [unknown, unknown]
}[] = [
  { name: 'begin', first: async () => {}, step: () => beginJob(db, jobId, fence), answers: ['begin', 'resume'] },
  {
    name: 'complete',
    first: () => beginJob(db, jobId, fence),
    step: () => completeJob(db, jobId, fence, 'a'.repeat(64)),
    answers: ['won', 'already_mine']
  },
  {
    name: 'fail',
    first: () => beginJob(db, jobId, fence),
    step: () => failJob(db, jobId, fence, error),
    answers: ['won', 'already_mine']
  },
  {
    name: 'fail before it began',
    first: async () => {},
    step: () => failJob(db, jobId, undefined, error),
    answers: ['won', 'lost']
  },
  {
    name: 'fail unclaimed',
    first: async () => {},
    step: () => failUnclaimed(db, jobId, fence, error),
    answers: ['won', 'already_mine']
  },
  {
    name: 'record a cancel from Temporal',
    first: () => beginJob(db, jobId, fence),
    step: () => recordCancelled(db, jobId, fence, 'stopped_before_provider'),
    answers: ['won', 'already_mine']
  },
  {
    name: 'record a requested cancel',
    first: async () => {
      await beginJob(db, jobId, fence)
      await requestCancel(db, jobId)
    },
    step: () => recordCancelled(db, jobId, fence, 'stopped_before_provider'),
    answers: ['won', 'already_mine']
  },
  {
    name: 'request a cancel of a waiting job',
    first: async () => {},
    step: () => requestCancel(db, jobId),
    answers: ['cancelled', 'final']
  },
  {
    name: 'request a cancel of a running job',
    first: () => beginJob(db, jobId, fence),
    step: () => requestCancel(db, jobId),
    answers: ['cancelling', 'cancelling']
  }
]

describe.each(steps)('$name', ({ first, step, answers }) => {
  test('changes nothing the second time, and the ledger adds up', async () => {
    await first()
    expect(await step()).toBe(answers[0])
    const once = await everythingAbout(db, jobId)
    expect(await step()).toBe(answers[1])
    expect(await everythingAbout(db, jobId)).toEqual(once)
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  test('has the same effect ten times at once as once', async () => {
    await first()
    const results = await Promise.all(Array.from({ length: 10 }, step))
    expect(results.filter((answer) => answer === answers[0]).length).toBeGreaterThanOrEqual(1)
    if (answers[0] !== answers[1]) expect(results.filter((answer) => answer === answers[0])).toHaveLength(1)
    const [events] = await db.execute(
      sql`select count(*)::int as count, max(seq) as last from job_events where job_id = ${jobId}`
    )
    expect(events!.count).toBe(events!.last)
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })
})

describe('the money of a job', () => {
  test('is its estimate when it completes, and nothing when it fails or is cancelled', async () => {
    expect(await booked()).toEqual({ spent: 0, reserved: 700 })
    await beginJob(db, jobId, fence)
    await completeJob(db, jobId, fence, 'a'.repeat(64))
    expect(await booked()).toEqual({ spent: 700, reserved: 0 })
    for (const end of [(id: string) => failJob(db, id, undefined, error), (id: string) => requestCancel(db, id)]) {
      await end(await addJob(db, person, { cost: 50n }))
      expect(await booked()).toEqual({ spent: 700, reserved: 0 })
    }
  })

  test('is released when its price rose above the reservation, which fails the job at its start', async () => {
    await setPrice(701)
    expect(await beginJob(db, jobId, fence)).toBe('stop')
    const [job] = await db.execute(sql`select status, error_code, error_message from jobs where id = ${jobId}`)
    expect(job).toMatchObject({ status: 'failed', error_code: 'price_changed' })
    expect(job!.error_message).toMatch(/\$0\.000700 was reserved, \$0\.000701 would be due/)
    expect(await booked()).toEqual({ spent: 0, reserved: 0 })
  })

  test('is unchanged by a price that the reservation covers', async () => {
    await setPrice(700)
    expect(await beginJob(db, jobId, fence)).toBe('begin')
  })

  test('settles in the day and month of its start when it ends after midnight', async () => {
    const late = await addJob(db, person, { cost: 9n, at: new Date('2026-10-31T23:59:59.999Z') })
    await beginJob(db, late, fence)
    await completeJob(db, late, fence, 'a'.repeat(64))
    const counters =
      await db.execute(sql`select period, starts_on::text, spent_micro::int as spent, reserved_micro::int as reserved
      from budget_counters where starts_on < '2026-11-01' order by period`)
    expect([...counters]).toEqual([
      { period: 'day', starts_on: '2026-10-31', spent: 9, reserved: 0 },
      { period: 'month', starts_on: '2026-10-01', spent: 9, reserved: 0 }
    ])
  })
})

describe('the begin step', () => {
  test('leaves a job alone until its start time', async () => {
    const later = await addJob(db, person, { submission: { notBefore: new Date(Date.now() + 3_600_000) } })
    expect(await beginJob(db, later, fence)).toBe('stop')
    expect(await jobStatus(db, later)).toBe('pending')
    const rows = await db.execute(sql`select 1 from outbox where job_id = ${later}`)
    expect(rows).toHaveLength(1)
    await db.execute(sql`update jobs set not_before = now() - interval '1 second' where id = ${later}`)
    expect(await beginJob(db, later, fence)).toBe('begin')
  })

  test('stops quietly for a cancelled job, another generation and a missing job', async () => {
    expect(await beginJob(db, jobId, { generation: 2 })).toBe('stop')
    expect(await beginJob(db, newLease(), fence)).toBe('stop')
    await requestCancel(db, jobId)
    expect(await beginJob(db, jobId, fence)).toBe('stop')
  })

  test('continues a job that is being cancelled on the cancel path', async () => {
    await beginJob(db, jobId, fence)
    await requestCancel(db, jobId)
    expect(await beginJob(db, jobId, fence)).toBe('cancel')
  })

  test('gives a direct job to the first lease that claims it, and stops a second delivery', async () => {
    const [mine, other] = [newLease(), newLease()]
    const claims = await Promise.all([
      beginJob(db, jobId, { generation: 1, lease: mine }),
      beginJob(db, jobId, { generation: 1, lease: other })
    ])
    expect(claims.sort()).toEqual(['begin', 'stop'])
    expect(await beginJob(db, jobId, { generation: 1 })).toBe('stop')
  })

  test('has one consistent outcome against a concurrent cancel, in 50 pairs', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => addJob(db, person, { cost: 1n })))
    const outcomes = await Promise.all(
      ids.map(async (id, index) => {
        const both = [() => beginJob(db, id, fence), () => requestCancel(db, id)]
        if (index % 2) both.reverse()
        const answers = await Promise.all(both.map((act) => act()))
        if (index % 2) answers.reverse()
        const kinds = (await db.execute(sql`select kind from outbox where job_id = ${id} order by kind`)).map(
          (row) => row.kind
        )
        return [...answers, await jobStatus(db, id), kinds.join()].join(' ')
      })
    )
    const consistent = [
      'begin cancelling cancelling cancel',
      'cancel cancelling cancelling cancel',
      'stop cancelled cancelled '
    ]
    expect(outcomes.filter((outcome) => !consistent.includes(outcome))).toEqual([])
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })
})

describe('a cancel', () => {
  test('that comes after the run has finished leaves the job completed, as too late', async () => {
    await beginJob(db, jobId, fence)
    await requestCancel(db, jobId)
    expect(await completeJob(db, jobId, fence, 'a'.repeat(64))).toBe('won')
    const [job] = await db.execute(sql`select status, cancel_outcome from jobs where id = ${jobId}`)
    expect(job).toEqual({ status: 'completed', cancel_outcome: 'too_late' })
  })

  test('from a former generation ends nothing', async () => {
    await beginJob(db, jobId, fence)
    await db.execute(sql`update jobs set generation = 2 where id = ${jobId}`)
    const before = await everythingAbout(db, jobId)
    expect(await recordCancelled(db, jobId, fence, 'stopped_before_provider')).toBe('lost')
    expect(await failJob(db, jobId, fence, error)).toBe('lost')
    expect(await completeJob(db, jobId, fence, 'a'.repeat(64))).toBe('lost')
    expect(await everythingAbout(db, jobId)).toEqual(before)
  })
})

describe('attempts', () => {
  const attempts = async () => [
    ...(await db.execute(sql`select number, state, error_code from attempts where job_id = ${jobId} order by number`))
  ]

  test('are numbered from 1, and an open one is closed as lost when the next begins', async () => {
    await beginJob(db, jobId, fence)
    expect(await openAttempt(db, jobId, fence)).toBe(1)
    expect(await openAttempt(db, jobId, fence)).toBe(2)
    expect(await attempts()).toEqual([
      { number: 1, state: 'lost', error_code: 'execution_service_lost' },
      { number: 2, state: 'running', error_code: null }
    ])
  })

  test('are opened only for a running job, by its current generation', async () => {
    expect(await openAttempt(db, jobId, fence)).toBeNull()
    const lease = newLease()
    await beginJob(db, jobId, { generation: 1, lease })
    expect(await openAttempt(db, jobId, { generation: 2, lease })).toBeNull()
    expect(await openAttempt(db, jobId, { generation: 1, lease: newLease() })).toBeNull()
    expect(await openAttempt(db, jobId, { generation: 1, lease })).toBe(1)
    await requestCancel(db, jobId)
    expect(await openAttempt(db, jobId, { generation: 1, lease })).toBeNull()
  })

  test('are neither completed nor closed by a worker that has lost its claim, and its result is not stored', async () => {
    await beginJob(db, jobId, fence)
    await openAttempt(db, jobId, fence)
    await db.execute(sql`update jobs set generation = 2 where id = ${jobId}`)
    expect(await completeAttempt(db, jobId, 1, '{}')).toBeNull()
    expect(await closeAttempt(db, jobId, 1, 'failed', error)).toBe(false)
    expect(await loadJobRun(db, jobId)).toMatchObject({ storedResult: null })
    expect(await openAttempt(db, jobId, { generation: 2 })).toBe(2)
    expect(await closeAttempt(db, jobId, 1, 'failed', error)).toBe(false)
    expect(await attempts()).toEqual([
      { number: 1, state: 'lost', error_code: 'execution_service_lost' },
      { number: 2, state: 'running', error_code: null }
    ])
  })

  test('are closed by the end of the job, and a late worker changes nothing', async () => {
    await beginJob(db, jobId, fence)
    await openAttempt(db, jobId, fence)
    await failJob(db, jobId, undefined, error)
    expect(await completeAttempt(db, jobId, 1, '{}')).toBeNull()
    expect(await attempts()).toEqual([{ number: 1, state: 'lost', error_code: 'execution_error' }])
  })

  test('store their result byte for byte, including numbers beyond 2^53 and astral characters', async () => {
    const text = '{ "n": 123456789012345678901234567890, "x":1.10, "s":"\\u0000😀" }'
    await beginJob(db, jobId, fence)
    await openAttempt(db, jobId, fence)
    const digest = (await completeAttempt(db, jobId, 1, text))!
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(await resultText(db, jobId, digest)).toBe(text)
    expect(await completeAttempt(db, jobId, 1, text)).toBeNull()
    expect(await loadJobRun(db, jobId)).toMatchObject({ storedResult: digest })
  })

  test('end with a storable reason, whatever characters the error has', async () => {
    const hostile = { code: 'execution_error', message: `boom \0 \ud800 ${'x'.repeat(1_000_000)}` } as const
    await beginJob(db, jobId, fence)
    await openAttempt(db, jobId, fence)
    expect(await closeAttempt(db, jobId, 1, 'failed', hostile)).toBe(true)
    expect(await failJob(db, jobId, fence, hostile)).toBe('won')
  })
})

test('a job that a worker has claimed is not failed by one that could not claim it', async () => {
  await beginJob(db, jobId, { ...fence, lease: newLease() })
  const before = await everythingAbout(db, jobId)
  expect(await failUnclaimed(db, jobId, fence, error)).not.toBe('won')
  expect(await everythingAbout(db, jobId)).toEqual(before)
})
