// backend "auto": which backend a submission gets, what its record says about it, and what is refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { declareProviders } from '../../../db/backends/provider-workers.js'
import { type Headers, startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'
import { sha256 } from '../../support/jobs/script-rows.js'

const api = await startApi('choice')
const { db, sql } = api.database
afterAll(() => api.close())

let ada: TestUser & { teamId: string }
let bob: TestUser & { teamId: string }
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  bob = await api.signUpWithTeam()
  await declareProviders(db, ['IonQ'])
  const secrets = { team_id: ada.teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } }
  expect((await ada.post('/api/team/secrets', secrets)).status).toBe(201)
  await ada.ask('PATCH', '/api/team/budget', { team_id: ada.teamId, daily_usd: 500, monthly_usd: 500 })
})
beforeEach(async () => {
  await sql`update backends set status = 'online', queue_time_seconds = null where slug like 'ionq-direct-%'`
  await sql`update backends set status = 'online' where slug = 'local'`
})

const auto = (choose?: Record<string, unknown>, changes: Record<string, unknown> = {}) =>
  submission({ backend: 'auto', choose, ...changes })
const wide = (qubits: number) => `OPENQASM 3.0; include "stdgates.inc"; qubit[${qubits}] q; h q[0];`

async function recordOf(body: Record<string, unknown>, user: TestUser = ada) {
  return (await user.get(`/api/jobs/${await user.submit(body)}`)).body
}

async function refused(body: unknown, problem: string, status = 400, user: TestUser = ada): Promise<void> {
  const jobs = async () => (await user.get('/api/jobs')).body.total
  const before = await jobs()
  const answer = await user.post('/api/jobs/submit', body)
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(problem)])
  expect(await jobs()).toBe(before)
}

describe('a submission with backend auto gets', () => {
  test('the first free simulator for a small circuit, as if it had been named, with the table of candidates', async () => {
    const job = await recordOf(auto())
    expect(job).toMatchObject({ backend: 'local', provider: 'Local', estimated_cost_usd: 0, status: 'pending' })
    const { asked, chosen, at, candidates } = job.choice
    expect(asked).toEqual({ max_cost_usd: null, max_wait_seconds: null, min_qubits: null, hardware: null })
    expect([chosen, candidates[0].backend]).toEqual(['local', 'local'])
    expect(Math.abs(Date.parse(at) - Date.parse(job.created_at))).toBeLessThan(60_000)
    const { backends } = (await ada.get('/api/backends')).body
    const slugs = (list: Record<string, string>[], key: string) => list.map((one) => one[key]).sort()
    expect(slugs(candidates, 'backend')).toEqual(slugs(backends, 'slug'))
    const reasonOf = (slug: string) => candidates.find((one: { backend: string }) => one.backend === slug).reason
    expect(reasonOf('ionq-direct-forte-1')).toBe('it costs more')
    expect(reasonOf('rigetti-ankaa-3')).toContain('its provider has retired it')
    expect((await ada.get('/api/jobs?limit=1')).body.jobs[0]).not.toHaveProperty('choice')
    expect((await recordOf(submission())).choice).toBeNull()
  })

  test('a simulator that is wide enough, for a circuit and for a saved script', async () => {
    const circuit = { format: 'qasm3', payload: wide(27) }
    const own = { inline_code: undefined, framework: undefined }
    expect(await recordOf(auto(undefined, { ...own, circuit }))).toMatchObject({ backend: 'aer-statevector' })
    const uploaded = await ada.post('/api/scripts/upload', {
      team_id: ada.teamId,
      name: 'wide',
      script_content: wide(27)
    })
    expect(uploaded.status).toBe(200)
    const saved = auto(undefined, { ...own, script_id: uploaded.body.script_id })
    expect(await recordOf(saved)).toMatchObject({ backend: 'aer-statevector' })
    await refused(auto({ min_qubits: 10_000 }), 'too narrow: it has 25 qubits')
  })

  test('a simulator with noise for a noise model, and one with a state vector', async () => {
    const noise = { shots: 10, noise_model: { gate_errors: { all_2q: 0.1 } } }
    const noisy = await recordOf(auto(undefined, { params: noise }))
    expect(['aer-density-matrix', 'aer-noisy']).toContain(noisy.backend)
    const vector = await recordOf(auto(undefined, { params: { shots: 10, extract_state_vector: true } }))
    const [{ supportsStateVector }] = [(await ada.get(`/api/backends/${vector.backend}`)).body]
    expect(supportsStateVector).toBe(true)
    await refused(auto(undefined, { params: { shots: 1, noise_model: { unheard: 1 } } }), 'params.noise_model.unheard')
  })

  test('a quantum computer within its wishes, whose price is reserved', async () => {
    await sql`update backends set queue_time_seconds = 60 where slug = 'ionq-direct-forte-1'`
    const job = await recordOf(auto({ hardware: true, max_cost_usd: 1.3, max_wait_seconds: 60, min_qubits: 36 }))
    expect(job).toMatchObject({
      backend: 'ionq-direct-forte-1',
      provider: 'IonQ',
      estimated_cost_usd: 1.3,
      choice: {
        asked: { max_cost_usd: 1.3, max_wait_seconds: 60, min_qubits: 36, hardware: true },
        chosen: 'ionq-direct-forte-1'
      }
    })
    const [first, second] = job.choice.candidates
    expect(first).toMatchObject({ usable: true, reason: 'the only one that can take the job', wait_seconds: 60 })
    expect(second.usable).toBe(false)
    expect((await ada.get(`/api/team/budget?team_id=${ada.teamId}`)).body.day.reserved_usd).toBe(1.3)
  })
})

describe('a choice is frozen', () => {
  test('a repeated request gets the same job, a rerun the same backend, whatever is online then', async () => {
    const body = auto()
    const keyed: Headers = { 'idempotency-key': 'one' }
    const first = await ada.ask('POST', '/api/jobs/submit', body, keyed)
    await sql`update backends set status = 'offline' where slug = 'local'`
    const again = await ada.ask('POST', '/api/jobs/submit', body, keyed)
    expect([again.status, again.text]).toEqual([201, first.text])
    expect((await ada.get(`/api/jobs/${first.body.job_id}`)).body.backend).toBe('local')
    expect((await recordOf(body)).backend).toBe('marqov-sim')
    const rerun = `/api/jobs/${first.body.job_id}/rerun`
    expect(await ada.post(rerun)).toMatchObject({
      status: 400,
      body: { error: 'backend: local is offline; see the list of backends' }
    })
    await sql`update backends set status = 'online' where slug = 'local'`
    const { job_id } = (await ada.post(rerun)).body
    expect((await ada.get(`/api/jobs/${job_id}`)).body).toMatchObject({ backend: 'local', choice: null })
  })
})

describe('a submission that no backend can take is refused with the reasons, and recorded nowhere', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['ionq-direct-forte-1: too expensive: $1.30, more than $1.00', { hardware: true, max_cost_usd: 1 }, {}],
    ['ionq-direct-forte-1: too expensive: $1.30, more than $0.50', { hardware: true }, { max_cost_usd: 0.5 }],
    ['ionq-direct-forte-1: its queue is unknown', { hardware: true, max_wait_seconds: 600 }, {}],
    ['local, marqov-sim', { hardware: true, max_cost_usd: 0 }, {}]
  ])('%s', async (problem, choose, changes) => {
    await refused(auto(choose, changes), 'backend: auto finds none that can take this job. ')
    await refused(auto(choose, changes), problem)
  })

  test('for lack of credentials, and of a key that can pay', async () => {
    await refused(auto({ hardware: true }), 'ionq-direct-forte-1: the team has no credentials for IonQ', 400, bob)
    const made = await ada.post('/api/team/api-keys', {
      team_id: ada.teamId,
      name: 'k',
      tier: 'simulate',
      kind: 'live'
    })
    const headers: Headers = { authorization: `Bearer ${made.body.key}` }
    const asKey = (body: unknown) => api.ask('POST', '/api/jobs/submit', body, headers)
    const answer = await asKey(auto({ hardware: true }))
    expect([answer.status, answer.body.error]).toEqual([
      422,
      expect.objectContaining({
        code: 'backend_unavailable',
        message: expect.stringContaining('Paid backends need an API key of tier qpu')
      })
    ])
    expect((await asKey(auto())).status).toBe(201)
  })

  test('a team of others is 404, before anything is said about backends', async () => {
    await refused(auto({ hardware: true }, { team_id: bob.teamId }), 'no such team', 404)
  })
})

test('an analysis of another backend than the chosen one is refused', async () => {
  const content = wide(2)
  const uploaded = await ada.post('/api/scripts/upload', {
    team_id: ada.teamId,
    name: 'small',
    script_content: content
  })
  const { script_id } = uploaded.body
  const analysed = async (backend: string): Promise<string> => {
    const body = { team_id: ada.teamId, content, content_hash: sha256(content), backend, shots: 100 }
    const answer = await ada.post(`/api/scripts/${script_id}/analyse`, body)
    expect(answer.status).toBe(200)
    return answer.body.analysis_id
  }
  const own = { inline_code: undefined, framework: undefined, script_id }
  const of = async (backend: string) => auto(undefined, { ...own, analysis_id: await analysed(backend) })
  await refused(await of('aer-mps'), 'analysis_id: ', 409)
  expect((await recordOf(await of('local'))).backend).toBe('local')
})

describe('a malformed choice is refused by name', () => {
  test.each<[string, Record<string, unknown>, string]>([
    [
      'choose with a named backend',
      submission({ choose: { hardware: true } }),
      'choose: for backend "auto" only (got "local")'
    ],
    ['an empty choose with a named backend', submission({ choose: {} }), 'choose: for backend "auto" only'],
    ['an unknown wish', auto({ hardware: true, cheapest: true }), 'choose.cheapest: is not a field of this request'],
    ['a negative cost', auto({ max_cost_usd: -1 }), 'choose.max_cost_usd: '],
    [
      'a cost finer than a micro-dollar',
      auto({ max_cost_usd: 1e-7 }),
      'choose.max_cost_usd: must be a number of USD with at most 6'
    ],
    ['half a second', auto({ max_wait_seconds: 0.5 }), 'choose.max_wait_seconds: '],
    ['no qubits', auto({ min_qubits: 0 }), 'choose.min_qubits: '],
    ['hardware in words', auto({ hardware: 'yes' }), 'choose.hardware: '],
    ['a list', submission({ backend: 'auto', choose: [] }), 'choose: '],
    ['another spelling', submission({ backend: 'Auto' }), 'no backend is called "Auto"; see the list of backends']
  ])('%s', (_, body, problem) => refused(body, problem))

  test('where a backend has to be named', async () => {
    const advice = 'no backend is called "auto"; auto is for plain submissions'
    const bell = { code: submission().inline_code, language: 'openqasm', backend: 'auto', shots: 10 }
    const task = { name: 'bell', inline_code: submission().inline_code, backend: 'auto', parameters: { shots: 10 } }
    for (const [path, body] of [
      ['/api/playground/run', bell],
      ['/api/capsules/create', { name: 'x', team_id: ada.teamId, workflow: { tasks: [task] } }]
    ] as const)
      expect(await ada.post(path, body)).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining(advice) }
      })
  })
})

describe('an estimate for auto', () => {
  const estimate = (query: string, user: TestUser = ada) => user.get(`/api/jobs/estimate?${query}`)

  test('is that of the backend that would be chosen now, and says why', async () => {
    const free = await estimate('backend=auto&shots=100')
    expect([free.status, free.body]).toEqual([
      200,
      expect.objectContaining({ estimated_cost_usd: 0, choice: expect.objectContaining({ chosen: 'local' }) })
    ])
    const paid = await estimate(`backend=auto&shots=100&hardware=true&max_cost_usd=2&team_id=${ada.teamId}`)
    expect(paid.body).toMatchObject({ estimated_cost_usd: 1.3, choice: { chosen: 'ionq-direct-forte-1' } })
    expect((await estimate('backend=local&shots=100')).body.choice).toBeNull()
  })

  test('is for all parameters of the job, and a cap of the submission counts', async () => {
    const asked = (body: object) => ada.post('/api/jobs/estimate', { team_id: ada.teamId, ...body })
    const noise = { readout_errors: { all: { p0_given1: 0.02, p1_given0: 0.01 } } }
    const noisy = await asked({ backend: 'auto', params: { shots: 100, points: [{ noise_model: noise }, {}] } })
    expect([noisy.status, noisy.body.circuits, noisy.body.choice.chosen]).toEqual([200, 2, 'aer-density-matrix'])
    const hardware = { backend: 'auto', choose: { hardware: true }, params: { shots: 100 } }
    expect((await asked(hardware)).body).toMatchObject({ estimated_cost_usd: 1.3, refusals: [] })
    const capped = await asked({ ...hardware, max_cost_usd: 1 })
    expect([capped.status, capped.body.error]).toEqual([400, expect.stringContaining('more than $1.00')])
    const named = await asked({ backend: 'ionq-direct-forte-1', params: { shots: 100 }, max_cost_usd: 1 })
    expect(named.body.refusals).toMatchObject([{ check: 'budget', message: expect.stringContaining('$1.30') }])
    const wish = await asked({ backend: 'local', choose: { hardware: true }, params: { shots: 100 } })
    expect([wish.status, wish.body.error]).toEqual([400, expect.stringContaining('choose: for backend "auto" only')])
  })

  test.each([
    ['backend=auto&shots=100&hardware=true&max_cost_usd=1', 'too expensive: $1.30, more than $1.00'],
    [
      'backend=local&shots=100&hardware=true&min_qubits=2',
      'hardware, min_qubits: for backend "auto" only (got "local")'
    ],
    ['backend=auto&shots=100&hardware=perhaps', 'hardware: '],
    ['backend=auto&shots=100&max_cost_usd=0.0000001', 'max_cost_usd: must be a number of USD with at most 6']
  ])('of %s is refused with the reason', async (query, problem) => {
    const answer = await estimate(query)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(problem)])
  })
})
