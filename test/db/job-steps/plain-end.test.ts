// The statement that ends most jobs: it leaves the same rows as the longer way, or none.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { newId } from '../../../db/ids.js'
import { beginJob, completeJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { completePlainly, type EndingAttempt } from '../../../db/job-steps/plain-end.js'
import { restartWorkflow } from '../../../db/job-steps/stalled-workflows.js'
import { listArtifacts } from '../../../db/jobs/artifacts.js'
import { closeAttempt, completeAttempt, listAttempts, openAttempt, resultText } from '../../../db/jobs/attempts.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { eventsAfter } from '../../../db/jobs/job-events.js'
import { jobStatus, loadJobRun } from '../../../db/jobs/jobs.js'
import { WHOLE_BYTES_MAX } from '../../../db/stored-content.js'
import { createWebhook } from '../../../db/teams/webhooks.js'
import {
  addJob,
  addPerson,
  addTeam,
  everythingAbout,
  type JobChoices,
  newLease,
  type Person
} from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('plain_end', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const result = '{"counts":{"00":512,"11":512},"shots":1024,"metadata":{}}'
const lost = { code: 'execution_service_lost', message: 'gone' } as const

let person: Person
let teamId: string
let id: string
let fence: Fence
beforeAll(async () => {
  person = await addPerson(db)
})
beforeEach(async () => {
  teamId = await addTeam(db, person)
  fence = { generation: 1, lease: newLease() }
  id = await running()
})

async function running(choices: JobChoices = {}): Promise<string> {
  const jobId = await addJob(db, person, { ...choices, submission: { teamId, mode: 'direct', ...choices.submission } })
  expect(await beginJob(db, jobId, fence)).toBe('begin')
  return jobId
}

const complete = (attempt: EndingAttempt, text = result) => completePlainly(db, id, fence, attempt, { result: text })

/** `status`, or `status/attempt:state`. */
async function story(jobId = id): Promise<string[]> {
  const events = await eventsAfter(db, jobId, 0)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  const [job] = await db.execute(sql`select event_seq from jobs where id = ${jobId}`)
  expect(job!.event_seq).toBe(events.length)
  const times = events.map(({ at }) => at.getTime())
  expect(times).toEqual([...times].sort((a, b) => a - b))
  return events.map(({ type, status, attempt, attemptState }) =>
    type === 'status' ? status : `${status}/${attempt}:${attemptState}`
  )
}

/** What a job looks like afterwards, without what differs between any two jobs. */
async function left(jobId: string): Promise<unknown> {
  const volatile = /id$|_at$|^at$|token|source_sha256/
  return JSON.parse(JSON.stringify(await everythingAbout(db, jobId)), (key, value) =>
    volatile.test(key) ? value === null : value
  )
}

describe('the end in one statement', () => {
  test.each<[string, () => Promise<EndingAttempt>]>([
    ['an open attempt', async () => ({ number: (await openAttempt(db, id, fence))! })],
    ['an attempt that is recorded only now', async () => ({ ranMs: 40 })]
  ])('leaves the same as the longer way, for %s', async (_what, attempt) => {
    const longer = await running()
    const sha256 = await completeAttempt(db, longer, (await openAttempt(db, longer, fence))!, result)
    await completeJob(db, longer, fence, sha256!)
    expect(await complete(await attempt())).toBe(sha256)
    expect(await left(id)).toEqual(await left(longer))
    expect(await story()).toEqual(['pending', 'running', 'running/1:running', 'running/1:completed', 'completed'])
    expect(await resultText(db, id, sha256!)).toBe(result)
  })

  test('stores the files of the run, also large ones', async () => {
    const content = Buffer.alloc(WHOLE_BYTES_MAX + 1, 'a')
    const files = [{ name: 'state.bin', mediaType: 'application/octet-stream', content }]
    expect(await completePlainly(db, id, fence, { ranMs: 5 }, { result, files })).not.toBeNull()
    expect(await listArtifacts(db, id)).toMatchObject([{ name: 'state.bin', sizeBytes: content.length }])
    expect(await jobStatus(db, id)).toBe('completed')
  })

  test('dates an attempt back, but not to before the start of its job', async () => {
    await complete({ ranMs: 3_600_000 })
    const [attempt] = await listAttempts(db, id)
    const [job] = await db.execute<{ startedAt: Date }>(
      sql`select started_at as "startedAt" from jobs where id = ${id}`
    )
    expect(attempt!.startedAt.getTime()).toBeGreaterThanOrEqual(new Date(job!.startedAt).getTime())
    expect(attempt!.endedAt!.getTime()).toBeGreaterThanOrEqual(attempt!.startedAt.getTime())
    await story()
  })

  test('changes nothing the second time', async () => {
    await complete({ ranMs: 1 })
    const once = await everythingAbout(db, id)
    expect(await complete({ ranMs: 1 })).toBeNull()
    expect(await complete({ number: 1 })).toBeNull()
    expect(await everythingAbout(db, id)).toEqual(once)
    // By which a worker whose response was lost knows that it was its own.
    expect(await loadJobRun(db, id)).toMatchObject({ status: 'completed', storedResult: expect.any(String) })
  })

  test('is there once when ten writers end the job at once, or cancel it', async () => {
    for (let round = 0; round < 10; round++) {
      id = await running()
      if (round % 2) await openAttempt(db, id, fence)
      const ends = await Promise.all([
        ...Array.from({ length: 4 }, () => complete({ ranMs: 1 })),
        ...Array.from({ length: 4 }, () => complete({ number: 1 })),
        requestCancel(db, id),
        openAttempt(db, id, fence).catch(() => null)
      ])
      const completed = ends.filter((end) => typeof end === 'string' && end.length === 64).length
      if (completed === 0) await recordCancelled(db, id, fence, 'stopped_before_provider')
      expect(completed).toBeLessThanOrEqual(1)
      const lines = await story()
      expect(lines.filter((line) => /^(completed|cancelled)$/.test(line))).toEqual([
        completed ? 'completed' : 'cancelled'
      ])
      for (const { number, state } of await listAttempts(db, id))
        expect(lines.filter((line) => line.includes(`/${number}:`)).map((line) => line.split(':')[1])).toEqual([
          'running',
          state
        ])
    }
  })
})

describe('nothing is written', () => {
  const untouched = async (attempt: EndingAttempt, by = fence) => {
    const before = await everythingAbout(db, id)
    expect(await completePlainly(db, id, by, attempt, { result })).toBeNull()
    expect(await everythingAbout(db, id)).toEqual(before)
  }
  const webhook = () =>
    createWebhook(db, {
      id: newId(),
      teamId,
      url: 'https://example.org/',
      events: ['job.completed'],
      createdBy: null,
      ringKeyId: 'k',
      wrappedKey: Buffer.alloc(1),
      sealedSecret: Buffer.alloc(1)
    })

  test.each<[string, () => Promise<unknown>]>([
    [
      'has a price',
      async () => {
        id = await running({ cost: 7n })
      }
    ],
    [
      'becomes a capsule',
      async () => {
        id = await running({ submission: { capsule: { name: 'proof' } } })
      }
    ],
    ['has a team whose webhook waits for its end', webhook],
    ['is to be cancelled', () => requestCancel(db, id)],
    ['was cancelled', () => recordCancelled(db, id, fence, 'stopped_before_provider')],
    [
      'has another generation',
      async () => {
        fence = { generation: 1 }
        id = await running({ submission: { mode: 'temporal' } })
        await restartWorkflow(db, id, 1, 'lost')
      }
    ]
  ])('where the job %s', async (_why, prepare) => {
    await prepare()
    await untouched({ ranMs: 1 })
    await openAttempt(db, id, fence)
    await untouched({ number: 1 })
    expect((await loadJobRun(db, id))!.endsPlainly).toBe(false)
  })

  test('where the worker has lost its lease', async () => {
    await openAttempt(db, id, fence)
    await untouched({ number: 1 }, { generation: 1, lease: newLease() })
    expect((await loadJobRun(db, id))!.endsPlainly).toBe(true)
  })

  test('for an attempt that was closed, or was never opened', async () => {
    await untouched({ number: 1 })
    await openAttempt(db, id, fence)
    await closeAttempt(db, id, 1, 'lost', lost)
    await untouched({ number: 1 })
  })

  test('for an unrecorded attempt of a job that has one already', async () => {
    await openAttempt(db, id, fence)
    await untouched({ ranMs: 1 })
    await closeAttempt(db, id, 1, 'lost', lost)
    await untouched({ ranMs: 1 })
  })
})
