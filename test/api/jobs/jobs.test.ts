import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, completeJob, failJob } from '../../../db/job-steps/job-steps.js'
import { markUnreachable } from '../../../db/job-steps/outbox.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { members } from '../../../db/tables/accounts.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('jobs', { config: { temporalUiUrl: 'http://localhost:8233' } })
const { db } = api.database
afterAll(() => api.close())

let ada: TestUser
beforeAll(async () => {
  ada = await api.signUp()
})

const fence = { generation: 1 }
const job = async (id: string) => (await ada.get(`/api/jobs/${id}`)).body
/** Does what a worker does, up to a stored result. */
async function complete(id: string, result: string): Promise<void> {
  await beginJob(db, id, fence, { workflowRunId: 'run-1' })
  const number = await openAttempt(db, id, fence)
  const digest = await completeAttempt(db, id, number!, result)
  await completeJob(db, id, fence, digest!)
}

// The documented fields of the record. `not_before` is the requested time.
const recordKeys = [
  ...[
    'id',
    'name',
    'labels',
    'timeout_seconds',
    'team_id',
    'user_id',
    'status',
    'status_reason',
    'backend',
    'can',
    'choice',
    'provider'
  ],
  ...[
    'execution_mode',
    'framework',
    'source',
    'params',
    'script_id',
    'capsule_id',
    'capsule_run_id',
    'estimated_cost_usd',
    'max_cost_usd',
    'entrypoint'
  ],
  ...[
    'actual_cost_usd',
    'result',
    'error',
    'attempts',
    'progress',
    'provider_jobs',
    'emulated',
    'cancel',
    'workflow',
    'not_before',
    'created_at'
  ],
  ...['started_at', 'completed_at', 'updated_at', 'queue']
]
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('the record of a job', () => {
  test('has exactly the documented fields while it waits', async () => {
    const id = await ada.submit(
      submission({ name: 'Bell', labels: ['a', 'b'], execution_mode: 'temporal', timeout_seconds: 9 })
    )
    const record = await job(id)
    expect(Object.keys(record).sort()).toEqual([...recordKeys].sort())
    expect(record).toEqual({
      id,
      name: 'Bell',
      labels: ['a', 'b'],
      timeout_seconds: 9,
      team_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user_id: ada.id,
      status: 'pending',
      status_reason: null,
      backend: 'local',
      can: {
        cancel: true,
        rerun: true,
        make_capsule: 'job_id: must be a completed job (it is pending)',
        save_script: 'job_id: must be a completed job (it is pending)'
      },
      choice: null,
      entrypoint: null,
      max_cost_usd: null,
      provider: 'Local',
      execution_mode: 'temporal',
      framework: 'openqasm',
      source: {
        kind: 'inline',
        format: null,
        script_id: null,
        script_version: null,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/)
      },
      params: { shots: 100 },
      script_id: null,
      capsule_id: null,
      capsule_run_id: null,
      estimated_cost_usd: 0,
      actual_cost_usd: null,
      result: null,
      error: null,
      attempts: 0,
      progress: null,
      provider_jobs: [],
      emulated: false,
      cancel: null,
      workflow: { id: `job-${id}`, run_id: null, url: `http://localhost:8233/namespaces/default/workflows/job-${id}` },
      not_before: null,
      created_at: instant,
      started_at: null,
      completed_at: null,
      updated_at: instant,
      queue: { position: expect.any(Number), reason: 'waiting_for_worker', message: expect.any(String) }
    })
  })

  test('its summary is in lists, in place of the result', async () => {
    const id = await ada.submit(submission({ execution_mode: 'temporal', name: 'with a summary' }))
    await complete(id, '{"energy":-1.137,"_summary":{"Energy":"-1.137 hartree"}}')
    const { jobs } = (await ada.get('/api/jobs?q=with%20a%20summary')).body
    expect(jobs).toMatchObject([{ id, summary: { Energy: '-1.137 hartree' } }])
    expect(jobs[0]).not.toHaveProperty('result')
    const other = await ada.submit(submission({ name: 'without a summary' }))
    expect((await ada.get('/api/jobs?q=without%20a%20summary')).body.jobs).toMatchObject([{ id: other, summary: null }])
  })

  test('has times, attempts and its workflow run when it is finished; direct jobs have no workflow', async () => {
    const id = await ada.submit(submission({ execution_mode: 'temporal' }))
    await complete(id, '{"counts":{"00":100}}')
    expect(await job(id)).toMatchObject({
      status: 'completed',
      started_at: instant,
      completed_at: instant,
      attempts: 1,
      actual_cost_usd: 0,
      workflow: { run_id: 'run-1' },
      queue: null,
      result: { counts: { '00': 100 } }
    })
    expect((await job(await ada.submit(submission()))).workflow).toBeNull()
  })

  test('gives the reason of a failure', async () => {
    const id = await ada.submit(submission())
    await failJob(db, id, undefined, { code: 'execution_error', message: 'line 3: no such gate' })
    expect(await job(id)).toMatchObject({
      status: 'failed',
      error: { code: 'execution_error', message: 'line 3: no such gate' },
      status_reason: 'line 3: no such gate',
      result: null
    })
  })

  test('gives the reason of its wait', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const later = await ada.submit(submission({ not_before: at }))
    expect(await job(later)).toMatchObject({ not_before: at, queue: { reason: 'not_before' } })
    const stuck = await ada.submit(submission({ not_before: at }))
    // Neither due nor without a delivery at any time, so that no late nudge finds that the engine can be reached.
    await db.execute(sql`update jobs set not_before = null where id = ${stuck}`)
    await db.execute(sql`update outbox set due_at = now(), deliveries = 1 where job_id = ${stuck}`)
    await markUnreachable(db, [{ jobId: stuck, kind: 'start' }], { minSeconds: 60, maxSeconds: 60 })
    expect((await job(stuck)).queue.reason).toBe('engine_unavailable')
    const running = await ada.submit(submission())
    await beginJob(db, running, fence)
    expect((await job(running)).queue.reason).toBe('waiting_for_worker')
    await openAttempt(db, running, fence)
    expect((await job(running)).queue).toBeNull()
  })

  test('gives its position among the waiting jobs of its mode', async () => {
    const first = await ada.submit(submission({ execution_mode: 'temporal' }))
    const second = await ada.submit(submission({ execution_mode: 'temporal' }))
    expect((await job(second)).queue.position).toBe((await job(first)).queue.position + 1)
    await ada.post(`/api/jobs/${first}/cancel`)
    const before = (await job(second)).queue.position
    await ada.submit(submission({ execution_mode: 'direct' }))
    expect((await job(second)).queue.position).toBe(before)
  })

  test('lists every attempt, and only those', async () => {
    const id = await ada.submit(submission({ execution_mode: 'temporal' }))
    expect((await ada.get(`/api/jobs/${id}/attempts`)).body).toEqual({ attempts: [] })
    await beginJob(db, id, fence)
    await openAttempt(db, id, fence)
    await openAttempt(db, id, fence)
    const { attempts } = (await ada.get(`/api/jobs/${id}/attempts`)).body
    expect(attempts.map((attempt: Record<string, unknown>) => [attempt.number, attempt.state])).toEqual([
      [1, 'lost'],
      [2, 'running']
    ])
    expect(Object.keys(attempts[0])).toEqual([
      'task_id',
      'task',
      'number',
      'state',
      'started_at',
      'ended_at',
      'error',
      'backoff_ms',
      'provider_job_id',
      'cost_usd'
    ])
    expect((await job(id)).attempts).toBe(2)
  })
})

describe('a result', () => {
  // Integers beyond 2^53, decimals that a parser would shorten, spaces and escapes.
  const text =
    '{ "counts": {"00": 1}, "n": 123456789012345678901234567890, "x": 1.10, "e": 1E2, "s": "\\u0041\\u0000" }'

  test('reaches the client byte for byte, in the record and in the status', async () => {
    const id = await ada.submit(submission())
    await complete(id, text)
    for (const path of [`/api/jobs/${id}`, `/api/jobs/${id}/status`]) {
      const answer = await ada.get(path)
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.text.endsWith(`,"result":${text}}`)).toBe(true)
    }
  })

  test('is left out of lists', async () => {
    const { jobs } = (await ada.get('/api/jobs')).body
    for (const item of jobs) expect(Object.keys(item)).not.toContain('result')
    const ofRecord = ['choice', 'can', 'entrypoint', 'max_cost_usd', 'result']
    const listed = [...recordKeys.filter((key) => !ofRecord.includes(key)), 'summary', 'params_omitted']
    expect(Object.keys(jobs[0]).sort()).toEqual(listed.sort())
  })
})

describe('the status of a job', () => {
  const keys = ['id', 'status', 'backend', 'created_at', 'updated_at', 'estimated_cost_usd', 'result']

  test('has exactly seven keys, in every state', async () => {
    const id = await ada.submit(submission())
    const status = async () => (await ada.get(`/api/jobs/${id}/status`)).body
    expect(Object.keys(await status())).toEqual(keys)
    expect((await status()).result).toBeNull()
    await complete(id, '{"counts":{"11":100}}')
    expect(Object.keys(await status())).toEqual(keys)
    expect((await status()).result.counts).toEqual({ '11': 100 })
  })

  test('of a failed job has the reason as its result', async () => {
    const id = await ada.submit(submission())
    await failJob(db, id, undefined, { code: 'execution_error', message: 'said "no" \n at line 3' })
    const { body } = await ada.get(`/api/jobs/${id}/status`)
    expect(Object.keys(body)).toEqual(keys)
    expect([body.status, body.result]).toEqual(['failed', { error: 'said "no" \n at line 3' }])
  })
})

describe('a request for a job of another team', () => {
  test('gets the same 404 as an unknown id, on every route with an id', async () => {
    const [id, eve] = [await ada.submit(submission()), await api.signUp()]
    const missing = '01900000-0000-7000-8000-000000000000'
    for (const [method, route] of [
      ['GET', ''],
      ['GET', '/status'],
      ['GET', '/status?wait=1'],
      ['GET', '/attempts'],
      ['POST', '/cancel']
    ] as const) {
      const answers = [
        await eve.ask(method, `/api/jobs/${id}${route}`),
        await eve.ask(method, `/api/jobs/${missing}${route}`)
      ]
      for (const answer of answers)
        expect([route, answer.status, answer.body]).toEqual([route, 404, { error: 'no such job' }])
    }
    expect((await job(id)).status).toBe('pending')
    expect((await eve.get('/api/jobs')).body).toMatchObject({ jobs: [], total: 0 })
  })

  test('succeeds for members of that team, until they leave it', async () => {
    const [bob, id] = [await api.signUp(), await ada.submit(submission())]
    const { team_id: teamId } = await job(id)
    expect((await bob.get(`/api/jobs/${id}`)).status).toBe(404)
    await db.insert(members).values({ teamId, userId: bob.id, role: 'member' })
    expect((await bob.get(`/api/jobs/${id}`)).status).toBe(200)
    await db.execute(sql`delete from members where user_id = ${bob.id}`)
    expect((await bob.get(`/api/jobs/${id}`)).status).toBe(404)
    expect((await bob.get(`/api/jobs?team_id=${teamId}`)).status).toBe(404)
  })
})

describe('the list of jobs', () => {
  test('is filtered by the end of an id, and by who submitted', async () => {
    expect(idsOf(await list(`?id_end=${ids[2]!.slice(-8)}`))).toEqual([ids[2]])
    expect(idsOf(await list(`?id_end=${ids[2]!.slice(-12).toUpperCase()}`))).toEqual([ids[2]])
    expect((await ada.get(`/api/jobs?id_end=${ids[2]!.slice(-8)}`)).body).toMatchObject({ jobs: [], total: 0 })
    expect(idsOf(await list('?mine=true'))).toEqual(ids)
    for (const end of ['1234567', '0123456789abc', '1234567g', '%25'])
      expect((await bob.get(`/api/jobs?id_end=${end}`)).status).toBe(400)
  })

  let bob: TestUser
  let ids: string[]
  const list = async (query = '') => (await bob.get(`/api/jobs${query}`)).body
  const idsOf = (page: { jobs: { id: string }[] }) => page.jobs.map((item) => item.id)

  beforeAll(async () => {
    bob = await api.signUp()
    ids = []
    for (let index = 0; index < 7; index++)
      ids.unshift(await bob.submit(submission({ backend: index % 2 ? 'local' : 'marqov-sim' })))
    await bob.post(`/api/jobs/${ids[0]}/cancel`)
  })

  test('is newest first, with limit 50 and offset 0 by default', async () => {
    const page = await list()
    expect(idsOf(page)).toEqual(ids)
    expect(page).toMatchObject({ total: 7, limit: 50, offset: 0, next_cursor: null })
  })

  test('can be read in pages with the cursor, without gaps or repetitions while new jobs arrive', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page: { jobs: { id: string }[]; next_cursor: string | null } = await list(
        `?limit=3${cursor ? `&cursor=${cursor}` : ''}`
      )
      seen.push(...idsOf(page))
      cursor = page.next_cursor
      pages++
      if (pages === 1) ids.unshift(await bob.submit(submission()))
    } while (cursor)
    expect(seen).toEqual(ids.slice(1))
    expect(pages).toBe(3)
  })

  test('has no next page after a last page that is exactly full', async () => {
    expect((await list(`?limit=${ids.length}`)).next_cursor).toBeNull()
    expect((await list(`?limit=${ids.length - 1}`)).next_cursor).not.toBeNull()
  })

  test('accepts an offset as well', async () => {
    expect(idsOf(await list('?limit=2&offset=1'))).toEqual(ids.slice(1, 3))
    expect(await list('?offset=10000')).toMatchObject({ jobs: [], total: ids.length })
  })

  test('is filtered by status, backend and team, and so is the total', async () => {
    const cancelled = await list('?status=cancelled')
    expect([idsOf(cancelled).length, cancelled.total]).toEqual([1, 1])
    const marqov = await list('?backend=marqov-sim')
    expect(marqov.total).toBe(4)
    expect(new Set(marqov.jobs.map((item: { backend: string }) => item.backend))).toEqual(new Set(['marqov-sim']))
    const { team_id } = marqov.jobs[0]
    expect((await list(`?team_id=${team_id}&status=pending&backend=marqov-sim`)).total).toBe(3)
    expect((await list('?backend=nope')).total).toBe(0)
  })

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=1.5',
    'limit=',
    'offset=-1',
    'offset=10001',
    'status=done',
    'cursor=x',
    'team_id=x',
    'backend=%00'
  ])('?%s is refused', async (query) => {
    const answer = await bob.get(`/api/jobs?${query}`)
    expect([query, answer.status]).toEqual([query, 400])
  })
})

describe('cancelling', () => {
  test('a waiting job cancels it at once', async () => {
    const id = await ada.submit(submission())
    const answer = await ada.post(`/api/jobs/${id}/cancel`)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      id,
      status: 'cancelled',
      cancel: { requested_at: instant, outcome: 'stopped_before_provider' },
      queue: null
    })
  })

  test('a running job marks it as cancelling, and a repetition changes nothing', async () => {
    const id = await ada.submit(submission())
    await beginJob(db, id, fence)
    for (let times = 0; times < 2; times++) {
      const answer = await ada.post(`/api/jobs/${id}/cancel`)
      expect([answer.status, answer.body.status, answer.body.cancel.outcome, answer.body.queue]).toEqual([
        202,
        'cancelling',
        null,
        null
      ])
    }
  })

  test('a finished job is refused with its status', async () => {
    const id = await ada.submit(submission())
    await complete(id, '{}')
    const answer = await ada.post(`/api/jobs/${id}/cancel`)
    expect([answer.status, answer.body]).toEqual([
      409,
      { error: 'the job is already completed; only a job that is not final can be cancelled' }
    ])
  })

  test('ten times at once succeeds once, and the others are refused', async () => {
    const id = await ada.submit(submission())
    const answers = await Promise.all(Array.from({ length: 10 }, () => ada.post(`/api/jobs/${id}/cancel`)))
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(9)
    const [events] = await db.execute(sql`select count(*)::int as count from job_events where job_id = ${id}`)
    expect(events!.count).toBe(2)
  })

  test('accepts an empty body of any type, and no other body', async () => {
    const id = await ada.submit(submission())
    expect((await ada.ask('POST', `/api/jobs/${id}/cancel`, '', { 'content-type': 'application/json' })).status).toBe(
      202
    )
    expect(
      (await ada.ask('POST', `/api/jobs/${id}/cancel`, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }))
        .status
    ).toBe(415)
  })
})
