// The cost of each way to end: nothing before a provider has accepted, then what the provider charged, or the estimate
// when it reports no figure. While the outcome is unknown, the money stays held.
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import {
  beginJob,
  completeJob,
  failJob,
  recordCancelled,
  recordFailure,
  requestCancel
} from '../../../db/job-steps/job-steps.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { periodCounters } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import {
  markAccepted,
  markSeen,
  markSending,
  markUnknown,
  markWithdrawn,
  type ReportedStatus,
  takeForSubmit
} from '../../../db/provider-jobs/provider-jobs.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import { eventually } from '../../support/eventually.js'
import { usd } from '../../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam, newLease } from '../../support/jobs/rows.js'
import { sessionsThatWait } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('transition_costs')
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const error = { code: 'execution_error', message: 'it broke' } as const
let teamId: string
let jobId: string
let fence: Fence

const begin = () => beginJob(db, jobId, fence)
const complete = () => completeJob(db, jobId, fence, 'a'.repeat(64))
const fail = () => failJob(db, jobId, fence, error)
const askToCancel = () => requestCancel(db, jobId)
const cancelled = () => recordCancelled(db, jobId, fence, 'stopped_before_provider')
const take = async () => (await takeForSubmit(db, plainRef(jobId), fence, { provider: 'ionq', token: jobId }))!
const send = async () => {
  const { number } = await take()
  await markSending(db, plainRef(jobId), fence, number, 'v1')
}
const accept = async () => {
  await send()
  await markAccepted(db, plainRef(jobId), fence, `at-${jobId}`)
}
const over = (state: ReportedStatus['state'], dollars: number | null) => () =>
  markSeen(db, plainRef(jobId), {
    state,
    status: state,
    queuePosition: null,
    predictedWaitSeconds: null,
    cost: dollars === null ? null : usd(dollars),
    failure: null
  })

interface Way {
  name: string
  steps: (() => Promise<unknown>)[]
  status: JobStatus
  /** Its cost, of ten dollars that were reserved. */
  cost: number | 'held'
  outcome?: string
}

/** On a local engine only a result has a cost. */
const local: Way[] = [
  { name: 'completes', steps: [begin, complete], status: 'completed', cost: 10 },
  {
    name: 'completes although a cancel was requested',
    steps: [begin, askToCancel, complete],
    status: 'completed',
    cost: 10,
    outcome: 'too_late'
  },
  { name: 'fails while it runs', steps: [begin, fail], status: 'failed', cost: 0 },
  { name: 'fails while it is being cancelled', steps: [begin, askToCancel, fail], status: 'failed', cost: 0 },
  {
    name: 'is cancelled before it starts',
    steps: [askToCancel],
    status: 'cancelled',
    cost: 0,
    outcome: 'stopped_before_provider'
  },
  {
    name: 'is cancelled while it runs',
    steps: [begin, askToCancel, cancelled],
    status: 'cancelled',
    cost: 0,
    outcome: 'stopped_before_provider'
  },
  {
    name: 'is cancelled by Temporal',
    steps: [begin, cancelled],
    status: 'cancelled',
    cost: 0,
    outcome: 'stopped_before_provider'
  },
  {
    name: 'fails before it starts',
    steps: [() => failJob(db, jobId, undefined, error)],
    status: 'failed',
    cost: 0
  },
  {
    name: 'is never dispatched',
    steps: [() => db.transaction((tx) => recordFailure(tx, jobId, error, { to: 'dispatch_failed' }))],
    status: 'dispatch_failed',
    cost: 0
  }
]

/** At a provider, after it has begun. */
const atProvider: Way[] = [
  {
    name: 'completes and was billed less',
    steps: [accept, over('completed', 4), complete],
    status: 'completed',
    cost: 4
  },
  {
    name: 'completes and was billed more',
    steps: [accept, over('completed', 11), complete],
    status: 'completed',
    cost: 11
  },
  {
    name: 'completes without a bill',
    steps: [accept, over('completed', null), complete],
    status: 'completed',
    cost: 10
  },
  { name: 'fails before anything is sent', steps: [take, fail], status: 'failed', cost: 0 },
  {
    name: 'fails, certainly never accepted',
    steps: [send, () => markWithdrawn(db, plainRef(jobId), fence, null), fail],
    status: 'failed',
    cost: 0
  },
  { name: 'fails there and was billed', steps: [accept, over('failed', 2.5), fail], status: 'failed', cost: 2.5 },
  { name: 'fails there for nothing', steps: [accept, over('failed', 0), fail], status: 'failed', cost: 0 },
  { name: 'fails there without a bill', steps: [accept, over('failed', null), fail], status: 'failed', cost: 10 },
  {
    name: 'completes there, but its result is lost',
    steps: [accept, over('completed', 7), fail],
    status: 'failed',
    cost: 7
  },
  { name: 'fails here, sent without a response', steps: [send, fail], status: 'failed', cost: 'held' },
  { name: 'fails here, accepted there', steps: [accept, fail], status: 'failed', cost: 'held' },
  {
    name: 'fails here, with an unknown outcome',
    steps: [accept, () => markUnknown(db, plainRef(jobId), fence), fail],
    status: 'failed',
    cost: 'held'
  },
  {
    name: 'is cancelled there and was billed',
    steps: [accept, askToCancel, over('cancelled', 1), () => recordCancelled(db, jobId, fence, 'provider_confirmed')],
    status: 'cancelled',
    cost: 1,
    outcome: 'provider_confirmed'
  },
  {
    name: 'is cancelled there without a bill',
    steps: [
      accept,
      askToCancel,
      over('cancelled', null),
      () => recordCancelled(db, jobId, fence, 'provider_confirmed')
    ],
    status: 'cancelled',
    cost: 10,
    outcome: 'provider_confirmed'
  },
  {
    name: 'is cancelled here, accepted there, and not confirmed',
    steps: [accept, askToCancel, () => recordCancelled(db, jobId, fence, 'provider_confirmed')],
    status: 'cancelled',
    cost: 'held',
    outcome: 'provider_unknown'
  },
  {
    name: 'is cancelled here, sent without a response',
    steps: [send, askToCancel, cancelled],
    status: 'cancelled',
    cost: 'held',
    outcome: 'provider_unknown'
  }
]

/** Of every job, and of the day that is looked at: midnight can pass meanwhile. */
const now = new Date()
beforeEach(async () => {
  teamId = await addTeam(db, person)
})
/** A late writer changes neither status nor money. */
afterEach(async () => {
  const before = await books()
  for (const late of [begin, complete, fail, askToCancel, cancelled]) await late()
  expect(await books()).toEqual(before)
})

async function books() {
  const [job] = await db.execute<{ status: string; cost: string | null; outcome: string | null; code: string | null }>(
    sql`select status, actual_cost_micro::text as cost, cancel_outcome as outcome, error_code as code from jobs where id = ${jobId}`
  )
  const { day, month } = await periodCounters(db, teamId, now)
  return { job: job!, counters: [day, month].map(({ spent, reserved }) => ({ spent, reserved })) }
}

async function goes({ steps, status, cost, outcome }: Way): Promise<void> {
  for (const step of steps) await step()
  const { job, counters } = await books()
  const held = cost === 'held'
  const spent = held ? 0n : usd(cost)
  expect(job).toEqual({
    status,
    cost: held ? null : String(spent),
    outcome: outcome ?? (job.status === 'failed' ? null : job.outcome),
    code:
      status === 'completed' || status === 'cancelled' ? null : held ? 'provider_outcome_unknown' : 'execution_error'
  })
  expect(counters).toEqual(Array(2).fill({ spent, reserved: held ? usd(10) : 0n }))
  const found = [...(await proveRecent(db))!, ...(await proveAll(db))!]
  expect(found.filter((finding) => finding.includes(jobId) && !finding.includes('more than was reserved'))).toEqual([])
}

describe.each(['direct', 'temporal'] as const)('a %s job', (mode) => {
  const submit = async () => {
    jobId = await addJob(db, person, { cost: usd(10), at: now, submission: { teamId, mode } })
  }

  test.each(local)('that $name', async (way) => {
    fence = { generation: 1, ...(mode === 'direct' && { lease: newLease() }) }
    await submit()
    await goes(way)
  })

  test.each(atProvider)('at a provider that $name', async (way) => {
    // A provider job is run by a workflow in both modes, so there is no lease.
    fence = { generation: 1 }
    await submit()
    await begin()
    await goes(way)
  })
})

describe('while a job is being ended', () => {
  test('nothing more is sent for it, since its money is being settled', async () => {
    fence = { generation: 1 }
    jobId = await addJob(db, person, { cost: usd(10), at: now, submission: { teamId } })
    await begin()
    const { number } = await take()
    let sending: Promise<boolean> | undefined
    await db.transaction(async (tx) => {
      await recordFailure(tx, jobId, error, { fence })
      let answered = false
      sending = markSending(db, plainRef(jobId), fence, number, 'v1').finally(() => {
        answered = true
      })
      await eventually(async () => answered || (await sessionsThatWait(db)) > 0)
    })
    expect(await sending).toBe(false)
    const { job, counters } = await books()
    expect([job.cost, counters[0]]).toEqual(['0', { spent: 0n, reserved: 0n }])
  })

  test('a concurrent acceptance by the provider is recorded, without a deadlock', async () => {
    fence = { generation: 1 }
    jobId = await addJob(db, person, { cost: usd(10), at: now, submission: { teamId } })
    await begin()
    await send()
    const ends = [
      fail(),
      markAccepted(db, plainRef(jobId), fence, `at-${jobId}`),
      takeForSubmit(db, plainRef(jobId), fence, { provider: 'ionq', token: jobId })
    ]
    const results = await Promise.allSettled(ends)
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
    const { job, counters } = await books()
    expect([job.code, job.cost, counters[0]]).toEqual([
      'provider_outcome_unknown',
      null,
      { spent: 0n, reserved: usd(10) }
    ])
  })
})
