// The source, tasks and events of a job, repeated runs, the list of jobs, and estimates.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { beginJob, recordCancelled } from '../../../db/job-steps/job-steps.js'
import { closeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { transition } from '../../../db/jobs/job-transition.js'
import type { JobStatus } from '../../../domain/jobs/job-status.js'
import { type ApiResponse, type Headers, startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { eventually } from '../../support/eventually.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('job_details')
const { db } = api.database
let ada: TestUser
let base: string
beforeAll(async () => {
  ada = await api.signUp()
  base = await api.listen()
})
afterAll(() => api.close())

const later = () => new Date(Date.now() + 3_600_000).toISOString()
const submit = (changes: Record<string, unknown> = {}) => ada.submit(submission({ not_before: later(), ...changes }))
const move = async (id: string, to: JobStatus) => {
  await db.transaction((tx) => transition(tx, id, to))
  api.announce(id)
}

/** The events of a text/event-stream. */
const eventsOf = (answer: ApiResponse) =>
  answer.text
    .split('\n\n')
    .filter((frame) => frame.startsWith('id:'))
    .map((frame) => {
      const [id, event, data] = frame.split('\n').map((line) => line.slice(line.indexOf(':') + 2))
      return { id, event, ...(JSON.parse(data!) as { status: string; seq: number; reason: string | null; at: string }) }
    })

describe('the source of a job', () => {
  test('is what was submitted, byte for byte', async () => {
    const code = `${bellQasm3()}// \u{1f511} "quotes" \\ and\ttabs\r\n`
    const answer = await ada.get(`/api/jobs/${await submit({ inline_code: code })}/source`)
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([
      200,
      'text/plain; charset=utf-8',
      code
    ])
  })
})

describe('the tasks of a plain job', () => {
  test('are one task, whose state follows the job', async () => {
    const id = await submit({ name: 'Bell' })
    const task = async () => (await ada.get(`/api/jobs/${id}/tasks`)).body.tasks
    expect(await task()).toEqual([
      {
        id,
        key: 'circuit',
        name: 'Bell',
        state: 'pending',
        depends_on: [],
        attempts: 0,
        started_at: null,
        completed_at: null,
        error: null,
        stdout: null
      }
    ])
    await move(id, 'cancelled')
    expect((await task())[0]).toMatchObject({ state: 'skipped', completed_at: expect.any(String) })
  })
})

describe('the events of a job', () => {
  test('are complete and in order when it is finished, and the stream ends', async () => {
    const id = await submit()
    for (const status of ['running', 'cancelling', 'cancelled'] as const) await move(id, status)
    const answer = await ada.get(`/api/jobs/${id}/events`)
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(answer.headers['x-request-id']).toEqual(expect.any(String))
    const events = eventsOf(answer)
    expect(events.map(({ status }) => status)).toEqual(['pending', 'running', 'cancelling', 'cancelled'])
    expect(events.map(({ id: number, seq, event }) => [number, seq, event])).toEqual(
      [1, 2, 3, 4].map((seq) => [`${seq}`, seq, 'status'])
    )
  })

  test.each([
    ['2', ['cancelling', 'cancelled']],
    ['rubbish', ['pending', 'running', 'cancelling', 'cancelled']]
  ])('continue after the Last-Event-ID %s', async (last, statuses) => {
    const id = await submit()
    for (const status of ['running', 'cancelling', 'cancelled'] as const) await move(id, status)
    const answer = await ada.ask('GET', `/api/jobs/${id}/events`, undefined, { 'last-event-id': last })
    expect(eventsOf(answer).map(({ status }) => status)).toEqual(statuses)
  })

  test.each(['4', '99', '999999999'])('are over for a browser that has had them all: %s gets 204', async (last) => {
    const id = await submit()
    const ask = () => ada.ask('GET', `/api/jobs/${id}/events?follow=false`, undefined, { 'last-event-id': last })
    for (const status of ['running', 'cancelling'] as const) await move(id, status)
    // More can come.
    expect([(await ask()).status, (await ask()).text]).toEqual([200, ''])
    await move(id, 'cancelled')
    const answer = await ask()
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([204, '', undefined])
  })

  test('are sent as they happen, and the end of the job ends the stream', async () => {
    const id = await submit()
    const before = api.waitingPolls()
    const streaming = ada.get(`/api/jobs/${id}/events`)
    await eventually(() => api.waitingPolls() > before)
    for (const status of ['running', 'completed'] as const) await move(id, status)
    expect(eventsOf(await streaming).map(({ status }) => status)).toEqual(['pending', 'running', 'completed'])
    await eventually(() => api.waitingPolls() === before)
  })

  test('include every attempt, and continue after any of them', async () => {
    const id = await submit()
    const fence = { generation: 1 }
    await move(id, 'running')
    await openAttempt(db, id, fence)
    await closeAttempt(db, id, 1, 'lost', { code: 'execution_service_lost', message: 'gone' }, 1_000)
    await openAttempt(db, id, fence)
    const lost = (await ada.get(`/api/jobs/${id}/attempts`)).body.attempts
    expect(lost).toMatchObject([
      { number: 1, state: 'lost', backoff_ms: 1_000 },
      { number: 2, state: 'running', backoff_ms: null }
    ])
    const streaming = ada.ask('GET', `/api/jobs/${id}/events`, undefined, { 'last-event-id': '3' })
    await recordCancelled(db, id, fence, 'stopped_before_provider')
    api.announce(id)
    const frames = (await streaming).text.split('\n\n').filter((frame) => frame.startsWith('id:'))
    expect(frames.map((frame) => frame.split('\n')[1])).toEqual([
      ...['event: attempt', 'event: attempt', 'event: status', 'event: attempt', 'event: status']
    ])
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(frames.map((frame) => JSON.parse(frame.split('data: ')[1]!))).toEqual([
      { seq: 4, type: 'attempt', task: 'circuit', number: 1, state: 'lost', status: 'running', at },
      { seq: 5, type: 'attempt', task: 'circuit', number: 2, state: 'running', status: 'running', at },
      { seq: 6, type: 'status', status: 'cancelling', reason: 'cancelled in the workflow engine', at },
      { seq: 7, type: 'attempt', task: 'circuit', number: 2, state: 'cancelled', status: 'cancelling', at },
      { seq: 8, type: 'status', status: 'cancelled', reason: 'cancelled', at }
    ])
  })

  test('of a job with 2,500 events are all sent, up to the final status', async () => {
    const id = await submit()
    await db.execute(sql`insert into job_events (job_id, seq, type, status, reason)
      select ${id}, seq, 'status', 'running', null from generate_series(2, 2499) seq`)
    await db.execute(sql`update jobs set event_seq = 2499 where id = ${id}`)
    await move(id, 'cancelled')
    const events = eventsOf(await ada.get(`/api/jobs/${id}/events`))
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 2_500 }, (_, at) => at + 1))
    expect(events.at(-1)!.status).toBe('cancelled')
  })

  test('wait for a reader that does not read, one page in memory, and end when it never does', async () => {
    const slow = await startApi('slow_readers', { database: api.database, streamTimes: { stalledMs: 500 } })
    const base = await slow.listen()
    const sockets: Socket[] = []
    slow.app.server.on('connection', (socket) => sockets.push(socket))
    const id = await submit()
    await db.execute(sql`insert into job_events (job_id, seq, type, status, reason)
      select ${id}, seq, 'status', 'running', repeat('x', 10000) from generate_series(2, 5001) seq`)
    await db.execute(sql`update jobs set event_seq = 5001 where id = ${id}`)
    const reader = get(`${base}/api/jobs/${id}/events`, { headers: { cookie: ada.cookie } })
    reader.on('error', () => {})
    const [response] = (await once(reader, 'response')) as [IncomingMessage]
    response.on('error', () => {})
    let most = 0
    await eventually(
      () => {
        most = Math.max(most, sockets[0]!.writableLength)
        return sockets[0]!.destroyed
      },
      { everyMs: 5 }
    )
    // A page has 10 MB, all events 50 MB.
    expect(most).toBeLessThan(15_000_000)
    await slow.close()
  })

  test('are sent to twenty readers of a user at a time, with a session or a key', async () => {
    const id = await submit()
    const before = api.waitingPolls()
    const { key } = (await ada.post('/api/team/api-keys', { name: 'k', tier: 'read', kind: 'live' })).body
    const headers: Headers[] = [{ cookie: ada.cookie }, { authorization: `Bearer ${key}` }]
    const readers = Array.from({ length: 20 }, (_, at) =>
      get(`${base}/api/jobs/${id}/events`, { headers: headers[at % 2]! }).on('error', () => {})
    )
    await eventually(() => api.waitingPolls() === before + 20)
    for (const some of headers) {
      const refused = await api.ask('GET', `/api/jobs/${id}/events`, undefined, some)
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '15'])
    }
    const bob = await api.signUp()
    await db.execute(sql`insert into members (team_id, user_id, role)
      select team_id, ${bob.id}, 'member' from jobs where id = ${id}`)
    const other = get(`${base}/api/jobs/${id}/events`, { headers: { cookie: bob.cookie } }).on('error', () => {})
    await eventually(() => api.waitingPolls() === before + 21)
    for (const reader of [...readers, other]) reader.destroy()
    await eventually(() => api.waitingPolls() === before)
    await move(id, 'cancelled')
    expect((await ada.get(`/api/jobs/${id}/events`)).status).toBe(200)
  })

  describe('end', () => {
    const withStreams = (streamTimes: { beatMs: number; streamMs?: number }) =>
      startApi('quick_streams', { database: api.database, streamTimes })
    const [beating, brief] = [withStreams({ beatMs: 50 }), withStreams({ beatMs: 50, streamMs: 1_000 })]
    afterAll(async () => {
      for (const opened of [beating, brief]) await (await opened).close()
    })
    const follow = async (at: typeof beating, cookie: string, id: string) =>
      (await at).ask('GET', `/api/jobs/${id}/events`, undefined, { cookie })
    const memberOf = async (id: string): Promise<TestUser> => {
      const member = await api.signUp()
      await db.execute(sql`insert into members (team_id, user_id, role)
        select team_id, ${member.id}, 'member' from jobs where id = ${id}`)
      return member
    }

    test.each([
      ['has left the team', (member: TestUser) => sql`delete from members where user_id = ${member.id}`],
      ['has signed out', (member: TestUser) => sql`update sessions set revoked_at = now() where user_id = ${member.id}`]
    ])('at the next heartbeat for a reader who %s', async (_what, lose) => {
      const id = await submit()
      const member = await memberOf(id)
      const streaming = follow(beating, member.cookie, id)
      await eventually(async () => (await beating).waitingPolls() > 0)
      await db.execute(lose(member))
      // Otherwise it would go on for an hour.
      expect(eventsOf(await streaming).map(({ status }) => status)).toEqual(['pending'])
    })

    test('after their time, and can be continued', async () => {
      const id = await submit()
      expect(eventsOf(await follow(brief, ada.cookie, id)).map(({ status }) => status)).toEqual(['pending'])
    })
  })

  test('stop when the reader disconnects, and leave nothing behind', async () => {
    const id = await submit()
    const before = api.waitingPolls()
    const reader = get(`${base}/api/jobs/${id}/events`, { headers: { cookie: ada.cookie } })
    const [response] = (await once(reader, 'response')) as [IncomingMessage]
    const [first] = await once(response, 'data')
    expect(String(first)).toContain('"pending"')
    await eventually(() => api.waitingPolls() > before)
    reader.destroy()
    await eventually(() => api.waitingPolls() === before)
  })
})

describe('running a job again', () => {
  test('creates a job with the same source, parameters, backend and team', async () => {
    const team = (await ada.post('/api/teams', { name: 'Ours' })).body.id
    const changes = { team_id: team, name: 'Bell', labels: ['a'], timeout_seconds: 7, params: { shots: 11, seed: 3 } }
    const first = await submit({ ...changes, execution_mode: 'temporal' })
    const answer = await ada.post(`/api/jobs/${first}/rerun`)
    expect(answer.status).toBe(201)
    const [one, two] = [first, answer.body.job_id].map((id) => ada.get(`/api/jobs/${id}`))
    const [{ body: before }, { body: after }] = [await one!, await two!]
    for (const field of [
      'team_id',
      'name',
      'labels',
      'timeout_seconds',
      'params',
      'backend',
      'source',
      'execution_mode'
    ])
      expect([field, after[field]]).toEqual([field, before[field]])
    expect(after).toMatchObject({ not_before: null, user_id: ada.id })
    expect(after.id).not.toBe(before.id)
  })

  test('keeps the cap of its cost, also in a capsule of the job', async () => {
    const first = await submit({ max_cost_usd: 1.5, not_before: undefined })
    const { job_id: again } = (await ada.post(`/api/jobs/${first}/rerun`)).body
    await finishJob(api.database.db, first)
    const made = await ada.post('/api/capsules/from-job', { job_id: first })
    expect([made.status, made.body]).toEqual([201, { capsule_id: expect.any(String), warnings: [] }])
    const { capsule_id } = made.body
    const { body: run } = await ada.post(`/api/capsules/${capsule_id}/run`, { mode: 'template' })
    expect(run).toMatchObject({ job_id: expect.any(String) })
    const caps = await api.database.sql`
      select max_cost_micro::text as cap from jobs where id in (${again}, ${run.job_id})`
    expect(caps.map(({ cap }) => cap)).toEqual(['1500000', '1500000'])
  })

  test('of a circuit keeps its format', async () => {
    const circuit = { format: 'qasm3', payload: bellQasm3() }
    const first = await submit({ inline_code: undefined, framework: undefined, circuit })
    const { job_id } = (await ada.post(`/api/jobs/${first}/rerun`)).body
    const [row] = await db.execute(
      sql`select source_kind as kind, source_format as format from jobs where id = ${job_id}`
    )
    expect(row).toEqual({ kind: 'circuit', format: 'qasm3' })
  })

  test('is refused when its backend no longer exists', async () => {
    const first = await submit({ backend: 'aer-mps' })
    await db.execute(sql`update backends set status = 'offline' where slug = 'aer-mps'`)
    expect((await ada.post(`/api/jobs/${first}/rerun`)).status).toBe(400)
    await db.execute(sql`update backends set status = 'online' where slug = 'aer-mps'`)
  })
})

describe('the list of jobs', () => {
  test('is filtered by time, and by text in the name, in a label or at the start of the id', async () => {
    const bob = await api.signUp()
    const make = (changes: Record<string, unknown>) => bob.submit(submission({ not_before: later(), ...changes }))
    const bell = await make({ name: 'A Bell pair', labels: ['nightly'] })
    const ghz = await make({ name: 'GHZ_100%', labels: ['Weekly run'] })
    // Within the day by which the clocks of API and database can differ.
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
    const [made, between] = [hoursAgo(12), hoursAgo(6)]
    await db.execute(sql`update jobs set created_at = ${made}::timestamptz where id = ${bell}`)
    const ids = async (query: string) =>
      ((await bob.get(`/api/jobs?${query}`)).body.jobs as { id: string }[]).map(({ id }) => id)
    expect(await ids(`created_before=${between}`)).toEqual([bell])
    expect(await ids(`created_after=${between}`)).toEqual([ghz])
    expect(await ids(`created_after=${made}&created_before=${between}`)).toEqual([])
    for (const [text, found] of [
      ['bell', [bell]],
      ['WEEKLY', [ghz]],
      [ghz.slice(0, 8), [ghz, bell]],
      [ghz, [ghz]],
      ['%', [ghz]],
      ['_', [ghz]],
      ["'", []],
      ['nothing', []]
    ] as const)
      expect([text, await ids(`q=${encodeURIComponent(text)}`)]).toEqual([text, found])
    for (const query of ['created_after=yesterday', 'q=', `q=${'x'.repeat(201)}`])
      expect([query, (await bob.get(`/api/jobs?${query}`)).status]).toEqual([query, 400])
  })
})

describe('an estimate', () => {
  beforeAll(async () => {
    await db.execute(sql`update backends set task_fee_micro = 300000, per_shot_micro = 350, minimum_cost_micro = 400000
      where slug = 'marqov-sim'`)
  })
  const estimate = (query: string) => ada.get(`/api/jobs/estimate?${query}`)

  test.each([
    ['shots=1000', 0.65, 1],
    ['shots=1000&tasks=3', 1.95, 3],
    ['shots=1000&circuit_count=3', 1.95, 3],
    ['shots=1000&circuit_count=3&tasks=3', 1.95, 3],
    // The backend's minimum, for each task.
    ['shots=1&tasks=2', 0.8, 2]
  ])('of %s is %p, with the prices that it is computed from', async (query, cost, tasks) => {
    const { status, body } = await estimate(`backend=marqov-sim&${query}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      estimated_cost_usd: cost,
      breakdown: { task_fee: 0.3, per_shot: 0.00035, tasks, minimum_cost: 0.4 },
      budget: { limits: { per_job_usd: 100 }, day: { remaining_usd: 100 } }
    })
  })

  test('equals the cost of the submission', async () => {
    const params = { shots: 777 }
    const { body } = await estimate('backend=marqov-sim&shots=777')
    const job = await submit({ backend: 'marqov-sim', params })
    expect((await ada.get(`/api/jobs/${job}`)).body.estimated_cost_usd).toBe(body.estimated_cost_usd)
  })

  test('counts the circuits of a submission, whose own cap applies and whose price is computed again at its start', async () => {
    const params = { shots: 1_000, circuit_count: 3 }
    const body = submission({ backend: 'marqov-sim', params, not_before: later() })
    const dear = await ada.post('/api/jobs/submit', { ...body, max_cost_usd: 1.949999 })
    expect([dear.status, dear.body.estimated_cost]).toEqual([402, 1.95])
    const first = await ada.submit({ ...body, max_cost_usd: 1.95 })
    const again = (await ada.post(`/api/jobs/${first}/rerun`)).body.job_id
    for (const id of [first, again])
      expect((await ada.get(`/api/jobs/${id}`)).body).toMatchObject({ estimated_cost_usd: 1.95, params })
    await db.execute(sql`update jobs set not_before = null where id in (${first}, ${again})`)
    expect(await beginJob(db, first, { generation: 1 })).toBe('begin')
    await db.execute(sql`update backends set per_shot_micro = 351 where slug = 'marqov-sim'`)
    expect(await beginJob(db, again, { generation: 1 })).toBe('stop')
    await db.execute(sql`update backends set per_shot_micro = 350 where slug = 'marqov-sim'`)
    expect((await ada.get(`/api/jobs/${again}`)).body).toMatchObject({
      status: 'failed',
      actual_cost_usd: 0,
      error: { code: 'price_changed', message: expect.stringContaining('$1.95 was reserved, $1.953000 would be due') }
    })
  })

  test.each([
    ['backend=none&shots=1', 404],
    ['shots=1', 400],
    ['backend=local', 400],
    ['backend=local&shots=0', 400],
    ['backend=local&shots=100001', 400],
    ['backend=local&shots=1.5', 400],
    ['backend=local&shots=1&tasks=0', 400],
    ['backend=local&shots=1&circuit_count=0', 400],
    ['backend=local&shots=1&circuit_count=1001', 400],
    ['backend=local&shots=1&tasks=2&circuit_count=3', 400],
    ['backend=local&shots=1&job_params=no', 400],
    ['backend=local&shots=1&job_params=[]', 400],
    ['backend=local&shots=1&job_params={"observables":["?"]}', 400],
    ['backend=local&shots=1&job_params={"mitigation":{"zne":{}}}', 400],
    ['backend=local&shots=1&team_id=01890000-0000-7000-8000-000000000000', 404]
  ])('of %s is refused', async (query, status) => {
    expect((await estimate(query)).status).toBe(status)
  })
})
