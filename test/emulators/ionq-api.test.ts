// The emulated IonQ follows the documented protocol of API v0.4 strictly.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Answer, aJob, startIonq } from './ionq-client.js'

let ionq: Awaited<ReturnType<typeof startIonq>>

beforeAll(async () => {
  ionq = await startIonq()
})
beforeEach(() => ionq.control.reset())
afterAll(() => ionq.close())

const get = async (path: string): Promise<Answer['body']> => (await ionq.call('GET', path)).body

describe('the emulated API key', () => {
  test.each(['', 'apiKey wrong', 'Bearer emulated-ionq-key', 'emulated-ionq-key'])(
    'a request with the authorization "%s" is refused',
    async (authorization) => {
      for (const [method, path] of [
        ['GET', '/whoami'],
        ['GET', '/jobs'],
        ['POST', '/jobs']
      ] as const) {
        const { status, body } = await ionq.call(method, path, method === 'POST' ? aJob() : undefined, {
          authorization
        })
        expect(status).toBe(401)
        expect(body).toEqual({ statusCode: 401, error: 'Unauthorized Error', message: expect.any(String) })
      }
      expect(ionq.control.tasks()).toEqual([])
    }
  )

  test('opens the API, whose list of devices is public', async () => {
    expect(await get('/whoami')).toMatchObject({ key_id: expect.any(String), key_name: expect.any(String) })
    const { body } = await ionq.call('GET', '/backends', undefined, { authorization: '' })
    expect(body.map((device: { backend: string; status: string; qubits: number }) => device.backend)).toEqual([
      'simulator',
      'qpu.forte-1',
      'qpu.forte-enterprise-1',
      'qpu.aria-1'
    ])
    expect(body[1]).toMatchObject({ status: 'available', qubits: 36, average_queue_time: 60_000 })
    expect(await get('/backends/qpu.forte-1')).toEqual(body[1])
    expect((await ionq.call('GET', '/backends/nobody')).status).toBe(404)
  })
})

test('a device that changes gets a new characterization, which is public and newest first', async () => {
  const list = async () =>
    (await ionq.call('GET', '/backends/qpu.forte-1/characterizations?limit=10', undefined, { authorization: '' })).body
  const before = await list()
  expect(before).toMatchObject({ characterizations: [{ id: expect.any(String), backend: 'qpu.forte-1' }], pages: 1 })
  ionq.control.noise(0.1)
  const after = await list()
  expect(after.characterizations.map(({ id }: { id: string }) => id)).toEqual([
    expect.any(String),
    before.characterizations[0].id
  ])
  const newest = after.characterizations[0]
  expect(newest.id).not.toBe(before.characterizations[0].id)
  expect(await get('/backends/qpu.forte-1')).toMatchObject({ characterization_id: newest.id })
  expect(await get(`/backends/qpu.forte-1/characterizations/${newest.id}`)).toEqual(newest)
  expect((await ionq.call('GET', '/backends/simulator/characterizations')).status).toBe(404)
  expect((await ionq.call('GET', '/backends/qpu.forte-1/characterizations?limit=0')).status).toBe(400)
})

describe('a submitted job', () => {
  const input = aJob().input as Record<string, unknown>
  const refused: [string, Record<string, unknown>, string[]][] = [
    ['nothing', {}, ['type', 'backend', 'input']],
    ['an unknown key', aJob({ target: 'simulator' }), ['target']],
    ['an unknown backend', aJob({ backend: 'qpu.harmony' }), ['backend']],
    ['a retired backend', aJob({ backend: 'qpu.aria-1' }), ['backend']],
    ['an unknown type', aJob({ type: 'ionq.circuit.v0' }), ['type']],
    ['no shots', aJob({ shots: 0 }), ['shots']],
    ['too many shots', aJob({ shots: 1_000_001 }), ['shots']],
    ['shots as text', aJob({ shots: '100' }), ['shots']],
    ['metadata that is not text', aJob({ metadata: { attempt: 1 } }), ['metadata.attempt']],
    ['a name with other characters', aJob({ name: 'a/b' }), ['name']],
    ['the format of v0.3', aJob({ input: { ...input, format: 'ionq.circuit.v0' } }), ['input.format']],
    ['no gateset', aJob({ input: { qubits: 1, circuit: [{ gate: 'x', target: 0 }] } }), ['input.gateset']],
    ['no gates', aJob({ input: { ...input, circuit: [] } }), ['input.circuit']],
    [
      'an unknown key of a gate',
      aJob({ input: { ...input, circuit: [{ gate: 'x', qubit: 0 }] } }),
      ['input.circuit.0.qubit']
    ],
    [
      'radians for a native gate',
      aJob({ input: { qubits: 1, gateset: 'native', circuit: [{ gate: 'gpi', target: 0, theta: 1 }] } }),
      ['input.circuit.0.theta']
    ],
    ['debiasing of few shots', aJob({ settings: { error_mitigation: { debiasing: true } } }), ['shots']],
    ['an unknown noise model', aJob({ noise: { model: 'loud' } }), ['noise.model']],
    ['a session', aJob({ session_id: 'one' }), ['session_id']]
  ]

  test.each(refused)('with %s is refused with the names of the wrong fields', async (_what, job, keys) => {
    const { status, body } = await ionq.call('POST', '/jobs', job)
    expect(status).toBe(400)
    expect(body).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: expect.any(String),
      validation: { keys, source: 'payload' }
    })
    expect(ionq.control.tasks()).toEqual([])
  })

  test('that is not JSON is refused', async () => {
    expect((await ionq.call('POST', '/jobs', '{"type":')).status).toBe(400)
    expect(ionq.control.tasks()).toEqual([])
  })

  test('that is sent twice makes two tasks, because there is no idempotency', async () => {
    const ids = [
      await ionq.submit({ metadata: { my_token: 't1' } }),
      await ionq.submit({ metadata: { my_token: 't1' } })
    ]
    expect(ids[0]).not.toBe(ids[1])
    expect(ionq.control.tasks().map(({ id, token }) => ({ id, token }))).toEqual(ids.map((id) => ({ id, token: 't1' })))
  })
})

describe('an emulated job', () => {
  test('is submitted, ready, started and completed by the emulated clock', async () => {
    const id = await ionq.submit({ backend: 'qpu.forte-1', shots: 500, name: 'Bell 1', metadata: { token: 'abc' } })
    const first = await get(`/jobs/${id}`)
    expect(first).toMatchObject({
      id,
      status: 'submitted',
      type: 'ionq.circuit.v1',
      backend: 'qpu.forte-1',
      shots: 500,
      name: 'Bell 1',
      metadata: { token: 'abc' },
      started_at: null,
      completed_at: null,
      failure: null,
      results: null
    })
    expect(first.predicted_wait_time_ms).toBeGreaterThan(30_000)
    const states = []
    for (const ms of [2000, 60_000, 60_000]) {
      ionq.control.advance(ms)
      const { status } = await get(`/jobs/${id}`)
      states.push(status)
    }
    expect(states).toEqual(['ready', 'started', 'completed'])
    const last = await get(`/jobs/${id}`)
    expect(Date.parse(last.started_at) - Date.parse(last.submitted_at)).toBe(60_000)
    expect(Date.parse(last.completed_at) - Date.parse(last.started_at)).toBe(60_000)
    expect(last).toMatchObject({ execution_duration_ms: 60_000, predicted_wait_time_ms: null })
    expect(last.stats).toEqual({ qubits: 3, circuits: 1, gate_counts: { '1q': 2, '2q': 0 } })
    expect(last.results.probabilities.url).toBe(`/v0.4/jobs/${id}/results/probabilities`)
  })

  test('waits while its device is unavailable, and starts when that is back', async () => {
    const id = await ionq.submit({ backend: 'qpu.forte-1', shots: 100 })
    ionq.control.device('qpu.forte-1', 'unavailable')
    ionq.control.advance(600_000)
    expect(await get(`/jobs/${id}`)).toMatchObject({ status: 'ready', started_at: null, predicted_wait_time_ms: null })
    ionq.control.device('qpu.forte-1', 'available')
    expect((await get(`/jobs/${id}`)).status).toBe('started')
    ionq.control.advance(60_000)
    expect(await get(`/jobs/${id}`)).toMatchObject({ status: 'completed', execution_duration_ms: 60_000 })
  })

  test('fails when its device is retired before it starts, and costs nothing', async () => {
    const waiting = await ionq.submit({ backend: 'qpu.forte-1', shots: 100 })
    ionq.control.advance(30_000)
    ionq.control.device('qpu.forte-1', 'retired')
    const failure = { code: 'SystemCancel', message: 'The device qpu.forte-1 was retired.' }
    expect(await get(`/jobs/${waiting}`)).toMatchObject({ status: 'failed', failure })
    expect((await get(`/jobs/${waiting}/cost`)).cost.value).toBe(0)
    expect((await ionq.call('POST', '/jobs', aJob({ backend: 'qpu.forte-1' }))).status).toBe(400)
  })

  test('has results when it is completed, not before', async () => {
    const id = await ionq.submit()
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(404)
    expect((await ionq.call('GET', `/jobs/${id}/artifacts/probabilities`)).status).toBe(404)
    ionq.control.advance(120_000)
    const probabilities = { '1': expect.closeTo(0.5, 9), '3': expect.closeTo(0.5, 9) }
    expect(await get(`/jobs/${id}/results/probabilities`)).toEqual(probabilities)
    const { results } = await get(`/jobs/${id}`)
    expect(await get(`/jobs/${id}/artifacts/${results['ionq.result.probabilities.json.v1'].id}`)).toEqual(probabilities)
    expect((await ionq.call('GET', `/jobs/${id}/artifacts/other`)).status).toBe(404)
  })

  test('on a device has the same counts over its shots in every form', async () => {
    const id = await ionq.submit({ backend: 'qpu.forte-1', shots: 200 })
    ionq.control.advance(120_000)
    const { results } = await get(`/jobs/${id}`)
    const artifact = (format: string) => get(`/jobs/${id}/artifacts/${results[`ionq.result.${format}`].id}`)
    const probabilities = await get(`/jobs/${id}/results/probabilities`)
    const histogram = await artifact('histogram.json.v1')
    const shots = await artifact('shots.json.v1')
    expect(Object.keys(histogram)).toEqual(['1', '3'])
    expect(histogram['1'] + histogram['3']).toBe(200)
    expect(probabilities).toEqual({ '1': histogram['1'] / 200, '3': histogram['3'] / 200 })
    expect(shots.filter((shot: string) => shot === '3')).toHaveLength(histogram['3'])
    const { shots: registers } = await artifact('shots.json.v2')
    expect(registers[0].registers.output_all).toEqual(shots[0] === '1' ? [1, 0, 0] : [1, 1, 0])
  })

  test('shows its cost when it has ended', async () => {
    const id = await ionq.submit({ backend: 'qpu.forte-1', shots: 100 })
    const estimated = { value: 1.3, unit: 'usd' }
    expect(await get(`/jobs/${id}/cost`)).toEqual({ dry_run: false, estimated_cost: estimated })
    ionq.control.advance(120_000)
    expect(await get(`/jobs/${id}/cost`)).toEqual({ dry_run: false, estimated_cost: estimated, cost: estimated })
    const asked = await get('/jobs/estimate?backend=qpu.forte-1&shots=100')
    expect(asked).toMatchObject({ estimated_total_cost: 1.3, estimated_unit: 'usd' })
    expect((await get('/jobs/estimate?backend=simulator')).estimated_total_cost).toBe(0)
    expect((await ionq.call('GET', '/jobs/estimate')).status).toBe(400)
  })

  test('with a compile error fails after it was accepted, and costs nothing', async () => {
    const wide = { qubits: 37, gateset: 'qis', circuit: [{ gate: 'x', target: 36 }] }
    const strange = { qubits: 1, gateset: 'qis', circuit: [{ gate: 'u3', target: 0 }] }
    const ids = [
      await ionq.submit({ backend: 'qpu.forte-1', input: wide }),
      await ionq.submit({ backend: 'qpu.forte-1', input: strange }),
      await ionq.submit({ type: 'ionq.qasm3.v1', input: { data: 'OPENQASM 3;\nqubit q;\nfor x' } }),
      await ionq.submit({ noise: { model: 'aria-1', seed: 3 } })
    ]
    ionq.control.advance(2000)
    const jobs = await Promise.all(ids.map((id) => get(`/jobs/${id}`)))
    expect(jobs.map(({ status, failure }) => [status, failure.code])).toEqual([
      ['failed', 'NotEnoughQubits'],
      ['failed', 'UnsupportedGate'],
      ['failed', 'CompilationError'],
      ['failed', 'SimulationError']
    ])
    expect((await get(`/jobs/${ids[0]}/cost`)).cost.value).toBe(0)
    expect((await ionq.call('GET', `/jobs/${ids[0]}/results/probabilities`)).status).toBe(404)
    expect((await ionq.call('PUT', `/jobs/${ids[0]}/status/cancel`)).status).toBe(409)
  })

  test.each([
    ['submitted', 0],
    ['ready', 2000],
    ['started', 60_000]
  ])('that is %s can be canceled permanently', async (state, ms) => {
    const id = await ionq.submit({ backend: 'qpu.forte-1' })
    ionq.control.advance(ms)
    expect((await get(`/jobs/${id}`)).status).toBe(state)
    for (let turn = 0; turn < 2; turn++)
      expect((await ionq.call('PUT', `/jobs/${id}/status/cancel`)).body).toEqual({ id, status: 'canceled' })
    ionq.control.advance(120_000)
    expect(await get(`/jobs/${id}`)).toMatchObject({ status: 'canceled', completed_at: null, results: null })
    expect((await get(`/jobs/${id}/cost`)).cost.value).toBe(0)
  })

  test('that is completed cannot be canceled and keeps its result', async () => {
    const id = await ionq.submit()
    ionq.control.advance(120_000)
    const { status, body } = await ionq.call('PUT', `/jobs/${id}/status/cancel`)
    expect([status, body.message]).toEqual([409, 'The job is completed and cannot be canceled.'])
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(200)
  })

  test('that is deleted is gone from the api, and canceled but kept in the ledger', async () => {
    const id = await ionq.submit()
    expect((await ionq.call('DELETE', `/jobs/${id}`)).body).toEqual({ id, status: 'deleted' })
    expect((await ionq.call('GET', `/jobs/${id}`)).status).toBe(404)
    expect((await get('/jobs')).jobs).toEqual([])
    expect(ionq.control.tasks()).toMatchObject([{ id, state: 'canceled' }])
  })

  test('is canceled or deleted together with all others of the request, or not at all', async () => {
    const ids = [await ionq.submit(), await ionq.submit()]
    expect((await ionq.call('PUT', '/jobs/status/cancel', { ids: [...ids, 'nobody'] })).status).toBe(404)
    for (const { state } of ionq.control.tasks()) expect(state).toMatch(/^(submitted|ready)$/)
    expect((await ionq.call('PUT', '/jobs/status/cancel', { ids })).body).toEqual({ ids, status: 'canceled' })
    expect((await ionq.call('DELETE', '/jobs', { ids })).body).toEqual({ ids, status: 'deleted' })
    expect((await ionq.call('PUT', '/jobs/status/cancel', {})).status).toBe(400)
  })
})

describe('the list of jobs', () => {
  test('is newest first, in pages of at most 25, with metadata', async () => {
    const ids: string[] = []
    for (let index = 0; index < 30; index++) ids.unshift(await ionq.submit({ metadata: { index: String(index) } }))
    const first = await get('/jobs?limit=100')
    expect(first.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 25))
    expect(first.jobs[0].metadata).toEqual({ index: '29' })
    const second = await get(`/jobs?limit=100&next=${first.next}`)
    expect(second.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(25))
    expect(second.next).toBeNull()
    expect((await get('/jobs?limit=2')).jobs).toHaveLength(2)
  })

  test('is filtered by id, status and target', async () => {
    const [here, there] = [await ionq.submit(), await ionq.submit({ backend: 'qpu.forte-1' })]
    await ionq.call('PUT', `/jobs/${here}/status/cancel`)
    const ids = async (query: string) => (await get(`/jobs?${query}`)).jobs.map(({ id }: { id: string }) => id)
    expect(await ids('status=canceled')).toEqual([here])
    expect(await ids('target=qpu.forte-1,qpu.aria-1')).toEqual([there])
    expect(await ids(`ids=${here}&ids=${there}`)).toEqual([there, here])
    expect(await ids(`ids=${here}`)).toEqual([here])
  })

  test.each(['limit=0', 'limit=many', 'status=running', 'next=nobody', 'sort=asc'])('%s is refused', async (query) => {
    const { status, body } = await ionq.call('GET', `/jobs?${query}`)
    expect(status).toBe(400)
    expect(body.validation).toEqual({ keys: [query.split('=')[0]], source: 'query' })
  })
})

test('a multi-circuit job is one task with a child for each circuit', async () => {
  const id = await ionq.submit({
    type: 'ionq.multi-circuit.v1',
    backend: 'qpu.forte-1',
    shots: 10,
    input: {
      gateset: 'qis',
      qubits: 2,
      circuits: [
        { name: 'first', circuit: [{ gate: 'x', target: 0 }] },
        { gateset: 'native', circuit: [{ gate: 'gpi', target: 1, phase: 0 }] }
      ]
    }
  })
  ionq.control.advance(120_000)
  const { child_job_ids: children, results, status } = await get(`/jobs/${id}`)
  expect([status, children.length]).toEqual(['completed', 2])
  const aggregated = { [children[0]]: { '1': 1 }, [children[1]]: { '2': 1 } }
  expect(await get(`/jobs/${id}/results/probabilities/aggregated`)).toEqual(aggregated)
  const [artifact] = Object.values(results as Record<string, { id: string }>).map(({ id: key }) => key)
  expect(await get(`/jobs/${id}/artifacts/${artifact}`)).toEqual(aggregated)
  expect(await get(`/jobs/${children[0]}`)).toMatchObject({ parent_job_id: id, name: 'first', status: 'completed' })
  expect(ionq.control.tasks()).toHaveLength(1)
  expect((await get(`/jobs/${id}/cost`)).cost.value).toBe(0.8)

  const wrong = {
    gateset: 'qis',
    circuits: [{ circuit: [{ gate: 'x', target: 0 }] }, { circuit: [{ gate: 'gpi', phase: 0 }] }]
  }
  const { status: refused, body } = await ionq.call(
    'POST',
    '/jobs',
    aJob({ type: 'ionq.multi-circuit.v1', input: wrong })
  )
  expect([refused, body.validation?.keys]).toEqual([400, ['input.circuits.1.circuit.0.phase']])
})

test('a job in OpenQASM 3 is run', async () => {
  const data = 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[2] c; x q[1]; c = measure q;'
  const id = await ionq.submit({ type: 'ionq.qasm3.v1', input: { data } })
  ionq.control.advance(120_000)
  expect(await get(`/jobs/${id}/results/probabilities`)).toEqual({ '2': expect.closeTo(1, 9) })
})

test('a dry run ends without results and without a charge', async () => {
  const id = await ionq.submit({ backend: 'qpu.forte-1', dry_run: true })
  ionq.control.advance(120_000)
  expect(await get(`/jobs/${id}`)).toMatchObject({ status: 'completed', dry_run: true, results: null })
  expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(404)
  expect((await get(`/jobs/${id}/cost`)).cost.value).toBe(0)
})

test('an empty body declared as JSON is accepted where no body is needed', async () => {
  const id = await ionq.submit()
  expect((await ionq.call('PUT', `/jobs/${id}/status/cancel`, '')).status).toBe(200)
  expect((await ionq.steer('POST', '/reset', '')).status).toBe(200)
  expect((await ionq.call('POST', '/jobs', '')).status).toBe(400)
})

test('a body above 10 MB is refused', async () => {
  const { status, body } = await ionq.call('POST', '/jobs', aJob({ name: 'a'.repeat(11 * 1024 * 1024) }))
  expect([status, body.error]).toEqual([413, 'Request Entity Too Large'])
})

test('an unknown resource is 404 in the provider’s form', async () => {
  for (const path of ['/jobs/nobody', '/jobs/nobody/cost', '/jobs/nobody/results/probabilities', '/sessions', '/']) {
    const { status, body } = await ionq.call('GET', path)
    expect([path, status, body.statusCode]).toEqual([path, 404, 404])
  }
})
