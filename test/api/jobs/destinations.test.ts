// GET /api/jobs/destinations says before a submission what the submission then says, for every backend of the catalogue.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { listBackends } from '../../../db/backends/backends.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { analogProgram } from '../../support/jobs/analog.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

const api = await startApi('destinations')
const { db } = api.database
afterAll(() => api.close())

const PRICE = 2_000_000
beforeAll(async () => {
  // One paid simulator, one that is disabled, one that takes few shots, and providers that are online without credentials.
  await db.execute(sql`update backends set task_fee_micro = ${PRICE} where slug = 'aer-statevector'`)
  await db.execute(sql`update backends set is_available = false where slug = 'aer-mps'`)
  await db.execute(sql`update backends set max_shots = 50 where slug = 'aer-noisy'`)
  await db.execute(sql`update backends set max_qubits = 1 where slug = 'marqov-sim'`)
  await db.execute(sql`update backends set status = 'online' where provider in ('IonQ', 'AWS Braket')`)
  await db.execute(
    sql`insert into provider_workers (provider, declared_at) values ('IonQ', now()), ('AWS Braket', now())`
  )
  await db.execute(
    sql`update backends set queue_length = 3, queue_time_seconds = 90 where slug = 'ionq-direct-simulator'`
  )
})

interface Destination {
  backend: string
  available: boolean
  refusals: { check: string; message: string }[]
  [field: string]: unknown
}

const destinations = async (user: TestUser, query: string): Promise<Destination[]> =>
  (await user.get(`/api/jobs/destinations?${query}`)).body.destinations
const words = ({ body }: ApiResponse): string | null => body.error?.message ?? body.error ?? null

async function team(): Promise<{ ada: TestUser; teamId: string }> {
  const ada = await api.signUp()
  return { ada, teamId: (await ada.post('/api/teams', { name: 'ours' })).body.id }
}
const submitTo = (user: TestUser, teamId: string, backend: string) =>
  user.post('/api/jobs/submit', submission({ team_id: teamId, backend, params: { shots: 100 } }))

describe('the first reason of a backend is what its submission is refused with', () => {
  async function compare(user: TestUser, teamId: string) {
    const found = await destinations(user, `shots=100&qubits=2&team_id=${teamId}`)
    expect(found.map(({ backend }) => backend)).toEqual((await listBackends(db)).map(({ slug }) => slug))
    const wrong: unknown[] = []
    for (const { backend, available, refusals } of found) {
      const happened = words(await submitTo(user, teamId, backend))
      if (happened !== (refusals[0]?.message ?? null) || available !== (happened === null))
        wrong.push({ backend, available, refusals, happened })
    }
    expect(wrong).toEqual([])
    return found
  }

  test('in a team that may pay', async () => {
    const { ada, teamId } = await team()
    const found = await compare(ada, teamId)
    const checks = new Set(found.flatMap(({ refusals }) => refusals.map(({ check }) => check)))
    expect(checks).toEqual(new Set(['backend', 'credentials', 'qubits']))
    expect(found.filter(({ available }) => available).map(({ backend }) => backend)).toEqual(
      expect.arrayContaining(['local', 'aer-statevector'])
    )
  })

  test('in a team whose limits are lower than the price', async () => {
    const { ada, teamId } = await team()
    await ada.ask('PATCH', '/api/team/budget', { team_id: teamId, per_job_usd: 1, daily_usd: 1, monthly_usd: 1 })
    const found = await compare(ada, teamId)
    const paid = found.find(({ backend }) => backend === 'aer-statevector')!
    expect(paid.refusals.map(({ check, message }) => [check, /what is left of (.*) \(/.exec(message)![1]])).toEqual([
      ['budget', "the team's limit per job"],
      ['budget', "the team's daily budget"],
      ['budget', "the team's monthly budget"]
    ])
  })

  test('in a suspended team', async () => {
    const { ada, teamId } = await team()
    await db.execute(
      sql`update teams set suspended_at = now(), suspended_reason = 'an unpaid invoice' where id = ${teamId}`
    )
    const found = await compare(ada, teamId)
    for (const { refusals } of found)
      expect(refusals.map(({ message }) => message).join()).toContain('(reason: an unpaid invoice)')
  })

  test.each(['read', 'simulate', 'qpu'] as const)('with a key of tier %s and a limit of its own', async (tier) => {
    const { ada, teamId } = await team()
    const key = { team_id: teamId, name: 'k', tier, kind: 'live', daily_limit_usd: 1 }
    const made = await ada.post('/api/team/api-keys', key)
    expect(made.status).toBe(201)
    const ask: TestUser['ask'] = (method, path, body) =>
      api.ask(method, path, body, { authorization: `Bearer ${made.body.key}` })
    const keyed = {
      ...ada,
      ask,
      get: (path: string) => ask('GET', path),
      post: (path: string, body?: unknown) => ask('POST', path, body)
    }
    await compare(keyed, teamId)
  })
})

describe('a destination', () => {
  test('has the price, how it was computed, and the queue', async () => {
    const { ada, teamId } = await team()
    const found = await destinations(ada, `shots=100&circuit_count=3&team_id=${teamId}`)
    expect(found.find(({ backend }) => backend === 'aer-statevector')).toMatchObject({
      provider: 'Local',
      device_type: 'simulator',
      emulated: false,
      status: 'online',
      queue_length: null,
      queue_seconds: 0,
      max_qubits: 28,
      estimated_cost_usd: 6,
      breakdown: { task_fee: 2, shots: 100, tasks: 3 }
    })
    expect(found.find(({ backend }) => backend === 'ionq-direct-simulator')).toMatchObject({
      queue_length: 3,
      queue_seconds: 90
    })
  })

  test('is the same in the options of a script, and in an estimate', async () => {
    const { ada, teamId } = await team()
    const script = await ada.post('/api/scripts/upload', { team_id: teamId, name: 's', script_content: bellQasm3() })
    await ada.ask('PATCH', '/api/team/budget', { team_id: teamId, per_job_usd: 1 })
    const query = `shots=100&team_id=${teamId}`
    const found = await destinations(ada, `${query}&qubits=2`)
    const options = (await ada.get(`/api/scripts/${script.body.script_id}/execution-options?${query}`)).body
    expect(options.destinations).toEqual(
      found.map(({ backend, name, available, refusals, estimated_cost_usd }) => {
        const reason = refusals[0]?.message ?? null
        return { backend, name, available, reason, estimated_cost_usd, requires_analysis: false }
      })
    )
    for (const { backend, refusals } of await destinations(ada, query))
      expect([backend, (await ada.get(`/api/jobs/estimate?backend=${backend}&${query}`)).body.refusals]).toEqual([
        backend,
        refusals
      ])
  })

  test('is shown to a person without a team, with the limits that theirs will have', async () => {
    const newcomer = await api.signUp()
    const { body } = await newcomer.get('/api/jobs/destinations')
    expect(body).toMatchObject({ team: null, budget: { team_id: null, limits: { per_job_usd: 100 } } })
    const refusalsOf = (slug: string) => body.destinations.find((one: Destination) => one.backend === slug).refusals
    expect(refusalsOf('local')).toEqual([])
    expect(refusalsOf('ionq-direct-simulator')).toMatchObject([{ check: 'credentials' }])
  })
})

test('parameters of the job are among the reasons of an estimate', async () => {
  const { ada, teamId } = await team()
  const params = encodeURIComponent('{"observables":["ZZ"],"mitigation":{"readout":true}}')
  const { body } = await ada.get(`/api/jobs/estimate?backend=local&shots=10&team_id=${teamId}&job_params=${params}`)
  expect(body.refusals).toMatchObject([{ check: 'params', message: expect.stringContaining('params.mitigation') }])
})

test.each([
  ['shots=0', 'shots: must be an integer from 1 to 100000'],
  ['qubits=0', 'qubits: must be an integer from 1 to 10000'],
  ['circuit_count=1001', 'circuit_count: must be an integer from 1 to 1000'],
  ['backend=local', 'backend: is not a field of this request'],
  ['shots=1&shots=2', 'shots: must be an integer from 1 to 100000 (got a list of 2 items)']
])('?%s is refused', async (query, message) => {
  const ada = await api.signUp()
  const { status, body } = await ada.get(`/api/jobs/destinations?${query}`)
  expect([status, body.error]).toEqual([400, expect.stringContaining(message)])
})

describe('the price of all parameters is what a submission reserves', () => {
  const cases: Record<string, Record<string, unknown>> = {
    'shots alone': {},
    'many circuits': { circuit_count: 3 },
    'points with shots of their own': { points: [{ theta: 1 }, { shots: 7 }, { shots: 500, seed: 3 }] },
    'observables on a simulator': { observables: ['ZZ', 'XX', 'YY'] },
    'mitigated observables': {
      observables: ['ZZ', 'XX'],
      mitigation: { readout: true },
      noise_model: { readout_errors: { all: { p0_given1: 0.02, p1_given0: 0.01 } } }
    },
    'observables of points': {
      noise_model: { readout_errors: { all: { p0_given1: 0.02, p1_given0: 0.01 } } },
      points: [{ observables: ['ZZ'] }, { observables: ['ZZ', 'XX'], mitigation: { readout: true } }]
    },
    'many circuits in each point': { circuit_count: 4, points: [{}, {}] }
  }

  test.each(Object.entries(cases))('of a job with %s', async (_name, changes) => {
    const { ada, teamId } = await team()
    await db.execute(
      sql`update backends set task_fee_micro = 70, per_shot_micro = 11 where slug = 'aer-density-matrix'`
    )
    await ada.ask('PATCH', '/api/team/budget', { team_id: teamId, per_job_usd: 1000, daily_usd: 1000 })
    const params = { shots: 100, ...changes }
    const asked = await ada.post('/api/jobs/destinations', { params, team_id: teamId })
    expect(asked.status).toBe(200)
    const found: Destination = asked.body.destinations.find(
      ({ backend }: Destination) => backend === 'aer-density-matrix'
    )
    expect(found.refusals).toEqual([])
    const named = { backend: 'aer-density-matrix', team_id: teamId }
    const { body: estimate } = await ada.post('/api/jobs/estimate', { ...named, params })
    expect(estimate).toMatchObject({ breakdown: found.breakdown, refusals: [], choice: null })
    const query = new URLSearchParams({ ...named, shots: '100', job_params: JSON.stringify(changes) })
    expect((await ada.get(`/api/jobs/estimate?${query}`)).body).toEqual(estimate)
    const { job_id } = (
      await ada.post('/api/jobs/submit', submission({ team_id: teamId, backend: 'aer-density-matrix', params }))
    ).body
    const { estimated_cost_usd } = (await ada.get(`/api/jobs/${job_id}`)).body
    expect(estimated_cost_usd).toBeGreaterThan(0)
    expect([found, estimate].map((one) => one.estimated_cost_usd)).toEqual([estimated_cost_usd, estimated_cost_usd])
  })

  test('of observables at a provider is that of an estimate', async () => {
    const { ada, teamId } = await team()
    const slug = 'ionq-direct-simulator'
    await db.execute(sql`update backends set task_fee_micro = 300000, per_shot_micro = 11 where slug = ${slug}`)
    const given = { observables: ['ZZ', 'XX', 'YY'] }
    const asked = await ada.post('/api/jobs/destinations', { params: { shots: 100, ...given }, team_id: teamId })
    const found = asked.body.destinations.find(({ backend }: Destination) => backend === slug)
    const query = new URLSearchParams({
      backend: slug,
      shots: '100',
      job_params: JSON.stringify(given),
      team_id: teamId
    })
    const estimate = (await ada.get(`/api/jobs/estimate?${query}`)).body
    expect(found.estimated_cost_usd).toBe(estimate.estimated_cost_usd)
    expect(found.breakdown).toEqual(estimate.breakdown)
    expect(found.breakdown.tasks).toBeGreaterThan(1)
  })

  test('refuses parameters that no job can have, and names those that one backend cannot take', async () => {
    const { ada, teamId } = await team()
    const priced = (params: object) => ada.post('/api/jobs/destinations', { params, team_id: teamId })
    expect(await priced({ shots: 0 })).toMatchObject({ status: 400 })
    expect(words(await priced({ shots: 1, points: [{ shots: 'many' }] }))).toMatch(/^params\.points\[0\]\.shots: /)
    expect(words(await priced({ shots: 1, observables: ['no such'] }))).toMatch(/observables/)
    const { destinations: all } = (await priced({ shots: 1, points: [{}] })).body
    const ionq: Destination = all.find(({ backend }: Destination) => backend === 'ionq-direct-simulator')
    expect(ionq.refusals).toContainEqual({ check: 'params', message: expect.stringContaining('runs no sweeps') })
  })

  test('a price is of a read: nothing is recorded, and an Idempotency-Key is ignored', async () => {
    const { ada, teamId } = await team()
    const priced = (shots: number) =>
      ada.ask('POST', '/api/jobs/destinations', { params: { shots }, team_id: teamId }, { 'idempotency-key': 'one' })
    const [few, many] = [await priced(1), await priced(2)]
    expect([few.status, many.status]).toEqual([200, 200])
    expect((await ada.get(`/api/jobs?team_id=${teamId}`)).body.total).toBe(0)
  })
})

describe('what a form knows of its submission is judged as the submission is', () => {
  const judged = async (user: TestUser, changes: Record<string, unknown>) =>
    user.post('/api/jobs/destinations', { params: { shots: 100 }, ...changes })
  const reasonAt = ({ body }: ApiResponse, slug: string): string | null =>
    body.destinations.find(({ backend }: Destination) => backend === slug).refusals[0]?.message ?? null

  test('its own cap', async () => {
    const { ada, teamId } = await team()
    const capped = { team_id: teamId, max_cost_usd: 1.5 }
    const [backend, params] = ['aer-statevector', { shots: 100 }]
    const refused = await ada.post('/api/jobs/submit', submission({ ...capped, backend, params }))
    expect(words(refused)).toContain('max_cost_usd')
    const asked = await judged(ada, capped)
    expect(reasonAt(asked, backend)).toBe(words(refused))
    expect(reasonAt(asked, 'local')).toBeNull()
    expect(reasonAt(await judged(ada, { ...capped, max_cost_usd: 2 }), backend)).toBeNull()
    expect(words(await judged(ada, { ...capped, max_cost_usd: 0.1234567 }))).toMatch(/^max_cost_usd: /)
  })

  test('an analog program with its sites', async () => {
    const { ada, teamId } = await team()
    const backend = 'local'
    const analog = {
      circuit: { format: 'ahs', payload: analogProgram() },
      inline_code: undefined,
      framework: undefined
    }
    const refused = await ada.post('/api/jobs/submit', submission({ ...analog, team_id: teamId, backend }))
    const asked = { program: 'analog', qubits: 2, team_id: teamId }
    expect(reasonAt(await judged(ada, asked), backend)).toBe(words(refused))
    expect(words(refused)).toContain('analog')
    expect(words(await judged(ada, { ...asked, params: { shots: 1, observables: ['ZZ'] } }))).toMatch(
      /^params\.observables: an analog program/
    )
  })

  test('a state vector that is too wide', async () => {
    const { ada, teamId } = await team()
    const params = { shots: 100, extract_state_vector: true }
    const code = 'OPENQASM 3.0;\nqubit[21] q;\n'
    const refused = await ada.post('/api/jobs/submit', submission({ inline_code: code, team_id: teamId, params }))
    const asked = await judged(ada, { params, qubits: 21, team_id: teamId })
    expect([asked.status, words(asked)]).toEqual([400, words(refused)])
    expect(words(refused)).toMatch(/^params\.extract_state_vector: /)
  })
})
