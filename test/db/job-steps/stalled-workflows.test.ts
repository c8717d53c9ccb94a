import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { markDelivered, takeDue } from '../../../db/job-steps/outbox.js'
import {
  jobsWithFailingWorkflow,
  markChecked,
  markMissing,
  markWorkflowFound,
  quietJobs,
  restartWorkflow
} from '../../../db/job-steps/stalled-workflows.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { addJob, addPerson, everythingAbout } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('stalled')
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
let jobId: string
beforeEach(async () => {
  await db.execute(sql`truncate jobs cascade`)
  jobId = await addJob(db, person, { cost: 5n })
})

const pass = (seconds: number) =>
  db.execute(sql`update jobs set updated_at = updated_at - make_interval(secs => ${seconds}),
    checked_at = checked_at - make_interval(secs => ${seconds}), missing_since = missing_since - make_interval(secs => ${seconds})`)
/** The jobs that are due to be checked; each counts as checked then. */
async function check() {
  const due = await quietJobs(db, 60, 10)
  for (const { id } of due) await markChecked(db, id)
  return due
}
const deliver = () => markDelivered(db, [{ jobId, kind: 'start' }], 30)
const job = async () => {
  const [row] = await db.execute(sql`select status, generation, error_code from jobs where id = ${jobId}`)
  return row
}

describe('a job without progress is checked', () => {
  test('after the quiet time, and once per quiet time', async () => {
    await beginJob(db, jobId, { generation: 1 })
    expect(await check()).toEqual([])
    await pass(61)
    expect(await check()).toEqual([{ id: jobId, generation: 1, status: 'running', missing: false }])
    expect(await check()).toEqual([])
    await pass(61)
    expect(await check()).toHaveLength(1)
  })

  test('after pauses that double to an hour while it stays quiet', async () => {
    await beginJob(db, jobId, { generation: 1 })
    // Half a minute from where the pauses change: the time that the statements take counts, too.
    await pass(90)
    const minutes: number[] = []
    for (let minute = 1; minute <= 300; minute++) {
      if ((await check()).length > 0) minutes.push(minute)
      await pass(60)
    }
    const pauses = minutes.slice(1).map((minute, at) => minute - minutes[at]!)
    expect(pauses.slice(0, 4)).toEqual([1, 3, 6, 12])
    expect(Math.max(...pauses)).toBe(60)
  })

  test('again at the next pass until a check was made, however long it has been quiet', async () => {
    await beginJob(db, jobId, { generation: 1 })
    for (let minute = 1; minute <= 20; minute++) {
      await pass(60)
      if (minute > 1) expect(await quietJobs(db, 60, 10)).toHaveLength(1)
    }
    expect(await check()).toHaveLength(1)
    expect(await quietJobs(db, 60, 10)).toEqual([])
  })

  test('again at the next pass while its workflow is missing', async () => {
    await beginJob(db, jobId, { generation: 1 })
    await pass(61)
    await check()
    await markMissing(db, jobId, 1, 30)
    expect(await check()).toEqual([{ id: jobId, generation: 1, status: 'running', missing: true }])
    await markWorkflowFound(db, jobId, false)
    expect(await check()).toEqual([])
  })

  test('again at the next pass while its workflow fails, and is among those that fail', async () => {
    await beginJob(db, jobId, { generation: 1 })
    await pass(61)
    await check()
    await markWorkflowFound(db, jobId, true)
    expect(await check()).toHaveLength(1)
    expect(await jobsWithFailingWorkflow(db, 10)).toEqual([{ id: jobId }])
    await markWorkflowFound(db, jobId, false)
    expect(await check()).toEqual([])
    expect(await jobsWithFailingWorkflow(db, 10)).toEqual([])
  })

  test('only once its start was delivered', async () => {
    await pass(61)
    expect(await check()).toEqual([])
    await deliver()
    expect(await check()).toHaveLength(1)
  })

  test('never when it is final or direct', async () => {
    await beginJob(db, jobId, { generation: 1 })
    await failJob(db, jobId, undefined, { code: 'execution_error', message: 'x' })
    const direct = await addJob(db, person, { submission: { mode: 'direct' } })
    await beginJob(db, direct, { generation: 1, lease: jobId })
    await pass(61)
    expect(await check()).toEqual([])
  })
})

test('a workflow is lost when it was missing twice, far enough apart, in the same generation', async () => {
  await beginJob(db, jobId, { generation: 1 })
  expect(await markMissing(db, jobId, 1, 30)).toBe(false)
  await pass(10)
  expect(await markMissing(db, jobId, 1, 30)).toBe(false)
  await pass(21)
  expect(await markMissing(db, jobId, 2, 30)).toBe(false)
  expect(await markMissing(db, jobId, 1, 30)).toBe(true)
})

describe('a restart', () => {
  test('gives the job the next generation and a new start, and the former worker can no longer write', async () => {
    await beginJob(db, jobId, { generation: 1 })
    await openAttempt(db, jobId, { generation: 1 })
    expect(await restartWorkflow(db, jobId, 1, 'lost')).toBe('restarted')
    expect(await job()).toMatchObject({ status: 'running', generation: 2 })
    expect((await takeDue(db, 'temporal', 10, 1_000)).rows).toEqual([
      { jobId, kind: 'start', mode: 'temporal', generation: 2, deliveries: 0 }
    ])
    const before = await everythingAbout(db, jobId)
    expect(await completeAttempt(db, jobId, 1, '{}')).toBeNull()
    expect(await completeJob(db, jobId, { generation: 1 }, 'a'.repeat(64))).toBe('lost')
    expect(await everythingAbout(db, jobId)).toEqual(before)
    expect(await beginJob(db, jobId, { generation: 1 })).toBe('stop')
    expect(await beginJob(db, jobId, { generation: 2 })).toBe('resume')
    expect(await openAttempt(db, jobId, { generation: 2 })).toBe(2)
    expect(await completeJob(db, jobId, { generation: 2 }, 'a'.repeat(64))).toBe('won')
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  test('of one generation happens once, however many sweeps attempt it', async () => {
    await beginJob(db, jobId, { generation: 1 })
    const answers = await Promise.all(Array.from({ length: 8 }, () => restartWorkflow(db, jobId, 1, 'lost')))
    expect(answers.sort()).toEqual([...Array(7).fill('lost'), 'restarted'])
    expect(await job()).toMatchObject({ generation: 2 })
  })

  test('happens five times, then the job fails with internal_error', async () => {
    await beginJob(db, jobId, { generation: 1 })
    for (let generation = 1; generation <= 5; generation++)
      expect(await restartWorkflow(db, jobId, generation, 'lost')).toBe('restarted')
    expect(await restartWorkflow(db, jobId, 6, 'lost')).toBe('gave_up')
    expect(await job()).toMatchObject({ status: 'failed', error_code: 'internal_error' })
    expect(await restartWorkflow(db, jobId, 7, 'lost')).toBe('lost')
    expect([...(await db.execute(sql`select 1 from outbox`))]).toEqual([])
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  test('for changed code is counted apart: twenty upgrades leave the five restarts of a lost workflow', async () => {
    await beginJob(db, jobId, { generation: 1 })
    let generation = 1
    for (let upgrade = 1; upgrade <= 20; upgrade++)
      expect(await restartWorkflow(db, jobId, generation++, 'code_changed')).toBe('restarted')
    for (let loss = 1; loss <= 5; loss++)
      expect(await restartWorkflow(db, jobId, generation++, 'lost')).toBe('restarted')
    expect(await restartWorkflow(db, jobId, generation, 'lost')).toBe('gave_up')
    expect(await job()).toMatchObject({ status: 'failed', error_code: 'internal_error' })
  })

  test('for changed code happens twenty times, then the job fails with internal_error', async () => {
    await beginJob(db, jobId, { generation: 1 })
    for (let generation = 1; generation <= 20; generation++)
      expect(await restartWorkflow(db, jobId, generation, 'code_changed')).toBe('restarted')
    expect(await restartWorkflow(db, jobId, 21, 'code_changed')).toBe('gave_up')
    expect(await job()).toMatchObject({ status: 'failed', error_code: 'internal_error' })
  })

  test.each(['pending', 'running'] as const)(
    'after a termination makes a %s job cancelling, so that it is cleaned up',
    async (status) => {
      if (status === 'running') await beginJob(db, jobId, { generation: 1 })
      else await deliver()
      expect(await restartWorkflow(db, jobId, 1, 'cancelling')).toBe('restarted')
      expect(await job()).toMatchObject({ status: 'cancelling', generation: 2 })
      expect(await beginJob(db, jobId, { generation: 2 })).toBe('cancel')
    }
  )

  test('of a job that is being cancelled passes the cancel to the new workflow', async () => {
    await beginJob(db, jobId, { generation: 1 })
    await requestCancel(db, jobId)
    expect(await restartWorkflow(db, jobId, 1, 'cancelling')).toBe('restarted')
    const rows = await db.execute(sql`select kind, generation from outbox order by kind`)
    expect([...rows]).toEqual([
      { kind: 'cancel', generation: 2 },
      { kind: 'start', generation: 2 }
    ])
  })

  test('never touches a final job', async () => {
    await failJob(db, jobId, undefined, { code: 'execution_error', message: 'x' })
    const before = await everythingAbout(db, jobId)
    expect(await restartWorkflow(db, jobId, 1, 'lost')).toBe('lost')
    expect(await everythingAbout(db, jobId)).toEqual(before)
  })
})
