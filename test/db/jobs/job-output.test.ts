// What a program prints, as events of its job: in order, once, bounded, and by the worker that has the job alone.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { restartWorkflow } from '../../../db/job-steps/stalled-workflows.js'
import { closeAttempt, completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { appendOutput, eventsAfter, type JobEvent, type OutputPart } from '../../../db/jobs/job-events.js'
import { storageMismatches } from '../../../db/proofs/storage-proof.js'
import { JOB_OUTPUT_BYTES_MAX, JOB_OUTPUT_EVENTS_MAX, OUTPUT_BYTES_MAX } from '../../../domain/jobs/value-limits.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('job_output', { max: 20 })
const { db } = database
afterAll(() => database.drop())
const person = await addPerson(db)
const fence = { generation: 1 }
const lost = { code: 'execution_service_lost', message: 'gone' } as const
const nothing = { bytes: 0, dropped: 0 }

let id: string
beforeEach(async () => {
  id = await addJob(db, person)
  await beginJob(db, id, fence)
})

const part = (text: string, offset = 0, dropped = 0): OutputPart => ({
  text,
  offset,
  end: offset + Buffer.byteLength(text),
  dropped
})
const append = (number: number, recorded: { bytes: number; dropped: number }, what: OutputPart, task = '') =>
  appendOutput(db, { jobId: id, task, number }, recorded, what)
/** All events, page by page. */
async function allEvents(onPage: (page: JobEvent[]) => void = () => {}): Promise<JobEvent[]> {
  const all: JobEvent[] = []
  for (;;) {
    const page = await eventsAfter(db, id, all.at(-1)?.seq ?? 0)
    if (page.length === 0) return all
    onPage(page)
    all.push(...page)
  }
}
const output = async () =>
  (await allEvents())
    .filter(({ type }) => type === 'output')
    .map(({ task, attempt, text, textOffset, truncatedBytes }) => [task, attempt, textOffset, text, truncatedBytes])

describe('the output of a job', () => {
  test('stands between the events of its attempt, numbered without gaps, and names the attempt', async () => {
    await openAttempt(db, id, fence)
    expect(await append(1, nothing, part('one\n'))).toBe('stored')
    await closeAttempt(db, id, 1, 'lost', lost, 1_000)
    await openAttempt(db, id, fence)
    expect(await append(2, nothing, part('one\n'))).toBe('stored')
    expect(await append(2, { bytes: 4, dropped: 0 }, part('€', 4, 12))).toBe('stored')
    const sha256 = (await completeAttempt(db, id, 2, '{}'))!
    await completeJob(db, id, fence, sha256)
    const events = await eventsAfter(db, id, 0)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
    expect(events.map(({ type, status }) => `${type}/${status}`)).toEqual([
      ...['status/pending', 'status/running', 'attempt/running', 'output/running', 'attempt/running'],
      ...['attempt/running', 'output/running', 'output/running', 'attempt/running', 'status/completed']
    ])
    expect(await output()).toEqual([
      ['', 1, 0, 'one\n', null],
      ['', 2, 0, 'one\n', null],
      ['', 2, 4, '€', 12]
    ])
  })

  test('is recorded once when the response to a write is lost, and the repetition learns what there is', async () => {
    await openAttempt(db, id, fence)
    await append(1, nothing, part('one'))
    expect(await append(1, nothing, part('one'))).toEqual({ bytes: 3, dropped: 0 })
    expect(await append(1, nothing, part('onetwo'))).toEqual({ bytes: 3, dropped: 0 })
    const both = await Promise.all([1, 2, 3].map(() => append(1, { bytes: 3, dropped: 0 }, part('two', 3))))
    expect(both.filter((stored) => stored === 'stored')).toHaveLength(1)
    expect(await output()).toEqual([
      ['', 1, 0, 'one', null],
      ['', 1, 3, 'two', null]
    ])
  })

  test('is not recorded before its attempt is open, after it has ended, and by a worker that has lost the job', async () => {
    expect(await append(1, nothing, part('early'))).toBe('closed')
    await openAttempt(db, id, fence)
    expect(await append(2, nothing, part('another'))).toBe('closed')
    await restartWorkflow(db, id, 1, 'lost')
    expect(await append(1, nothing, part('of the old workflow'))).toBe('closed')
    expect(await output()).toEqual([])
  })

  test('ends with the job: nothing follows the final status', async () => {
    await openAttempt(db, id, fence)
    await requestCancel(db, id)
    expect(await append(1, nothing, part('while it is stopped'))).toBe('stored')
    await recordCancelled(db, id, fence, 'stopped_before_provider')
    expect(await append(1, { bytes: 19, dropped: 0 }, part('late', 19))).toBe('closed')
    expect((await eventsAfter(db, id, 0)).at(-1)).toMatchObject({ type: 'status', status: 'cancelled' })
  })

  test('has a limit of bytes and of events for all attempts of the job, beyond which it is only counted', async () => {
    await openAttempt(db, id, fence)
    const text = 'x'.repeat(OUTPUT_BYTES_MAX)
    for (let full = 0; full < JOB_OUTPUT_BYTES_MAX; full += OUTPUT_BYTES_MAX)
      expect(await append(1, { bytes: full, dropped: 0 }, part(text, full))).toBe('stored')
    const end = { bytes: JOB_OUTPUT_BYTES_MAX, dropped: 0 }
    expect(await append(1, end, part('y', end.bytes))).toBe('full')
    expect(await append(1, end, part('', end.bytes, 1))).toBe('stored')
    expect((await output()).at(-1)).toEqual(['', 1, end.bytes, '', 1])

    await db.execute(sql`update jobs set output_bytes = 0, output_events = ${JOB_OUTPUT_EVENTS_MAX} where id = ${id}`)
    expect(await append(1, { ...end, dropped: 1 }, part('y', end.bytes))).toBe('full')
  })

  test('is read in pages of bounded size, without a gap', async () => {
    await openAttempt(db, id, fence)
    const text = 'x'.repeat(40 * 1024)
    for (let at = 0; at < 5; at++)
      await append(1, { bytes: at * text.length, dropped: 0 }, part(text, at * text.length))
    const sizes: number[] = []
    const events = await allEvents((page) => {
      sizes.push(page.reduce((sum, event) => sum + (event.text?.length ?? 0), 0))
    })
    expect(sizes).toEqual([2, 2, 1].map((pieces) => pieces * text.length))
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('counts among the bytes that its team stores, and is deleted with the job', async () => {
    await openAttempt(db, id, fence)
    await append(1, nothing, part('äöü'))
    expect(await storageMismatches(db)).toEqual([])
    const [row] = await db.execute(sql`select sum(bytes)::int as bytes from storage_entries where kind = 'jobs'
      and team_id = (select team_id from jobs where id = ${id})`)
    await db.execute(sql`delete from job_output where job_id = ${id}`)
    expect(await storageMismatches(db)).toEqual([])
    await append(1, { bytes: 6, dropped: 0 }, part('more', 6))
    await db.execute(sql`delete from jobs where id = ${id}`)
    expect(await storageMismatches(db)).toEqual([])
    expect(row!.bytes).toBeGreaterThan(6)
    expect([...(await db.execute(sql`select 1 from job_output where job_id = ${id}`))]).toEqual([])
  })
})
