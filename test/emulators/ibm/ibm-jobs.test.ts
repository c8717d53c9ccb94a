// Jobs and devices of the emulated IBM Quantum behave as IBM documents: how a job proceeds, what it uses, how it is found
// again, and how each refusal is named.
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { aJob, circuit, errorOf, firstOfThree, type Ibm, isa, startIbm } from './ibm-client.js'

let ibm: Ibm

beforeAll(async () => {
  ibm = await startIbm()
})
beforeEach(() => ibm.control.reset())
afterAll(() => ibm.close())

const refused = async (changes: Record<string, unknown>) => errorOf(await ibm.submit(changes))
const stateOf = async (id: string) => (await ibm.job(id)).state.status
const settings = (changes: Record<string, unknown>) => ibm.steer('POST', '/settings', changes)
const list = async (query: string) => (await ibm.call('GET', `/jobs?${query}`)).body
const idsOf = ({ jobs }: { jobs: { id: string }[] }) => jobs.map(({ id }) => id)

describe('a job', () => {
  test('waits, runs and completes by the emulated clock', async () => {
    const { status, body } = await ibm.submit({ tags: ['one', 'two'], cost: 30 })
    expect([status, body]).toEqual([
      200,
      { id: expect.stringMatching(/^[0-9a-v]{20}$/), backend: 'ibm_fez', calibration_id: expect.any(String) }
    ])
    const { id, calibration_id } = body
    expect(await ibm.job(id)).toEqual({
      id,
      backend: 'ibm_fez',
      state: { status: 'Queued' },
      status: 'Queued',
      program: { id: 'sampler' },
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      cost: 30,
      tags: ['one', 'two'],
      user_id: expect.any(String),
      estimated_running_time_seconds: 2,
      calibration_id
    })
    expect((await ibm.call('GET', `/jobs/${id}`)).body.params.pubs).toEqual([[firstOfThree, null, 10]])
    ibm.control.advance(60_000)
    expect(await stateOf(id)).toBe('Running')
    ibm.control.advance(60_000)
    const { state, status: word, created, ended } = await ibm.job(id)
    expect([state, word, Date.parse(ended) - Date.parse(created)]).toEqual([
      { status: 'Completed' },
      'Completed',
      120_000
    ])
    expect(ibm.control.tasks()).toMatchObject([
      { id, token: 'one', device: 'ibm_fez', shots: 10, state: 'Completed', metadata: { tags: 'one two', cost: '30' } }
    ])
  })

  test('has no result before its end, nor while the result is late', async () => {
    ibm.control.timing({ resultLagMs: 30_000 })
    const id = await ibm.accepted()
    const result = async () => {
      const { status, text } = await ibm.call('GET', `/jobs/${id}/results`)
      return [status, text.length > 0]
    }
    expect(await result()).toEqual([204, false])
    ibm.control.advance(125_000)
    expect([await stateOf(id), await result()]).toEqual(['Completed', [204, false]])
    ibm.control.advance(30_000)
    expect(await result()).toEqual([200, true])
    ibm.control.fault({ kind: 'result_lag' })
    expect(await result()).toEqual([204, false])
    expect(await result()).toEqual([200, true])
  })

  test('is a new one for every equal request', async () => {
    const ids = [await ibm.accepted({ tags: ['same'] }), await ibm.accepted({ tags: ['same'] })]
    expect(new Set(ids).size).toBe(2)
    expect(ibm.control.tasks()).toHaveLength(2)
  })

  test('that is cancelled ends at once, and only once', async () => {
    const id = await ibm.accepted()
    const cancel = async () => ibm.call('POST', `/jobs/${id}/cancel`)
    expect((await cancel()).status).toBe(204)
    expect((await ibm.job(id)).state).toEqual({ status: 'Cancelled' })
    expect(errorOf(await cancel())).toEqual([409, 3208, 'The job is Cancelled and cannot be cancelled.'])
    expect((await ibm.call('GET', `/jobs/${id}/results`)).status).toBe(204)
  })

  test('that has ended cannot be cancelled, and only then be deleted', async () => {
    const id = await ibm.accepted()
    expect((await ibm.call('DELETE', `/jobs/${id}`)).status).toBe(400)
    ibm.control.advance(200_000)
    expect(errorOf(await ibm.call('POST', `/jobs/${id}/cancel`)).slice(0, 1)).toEqual([409])
    expect((await ibm.call('DELETE', `/jobs/${id}`)).status).toBe(204)
    expect((await ibm.call('GET', `/jobs/${id}`)).status).toBe(404)
    expect((await list('')).count).toBe(0)
    expect(ibm.control.tasks()).toHaveLength(1)
  })

  test('waits while its device is paused, takes others with it, and starts when it is back', async () => {
    const id = await ibm.accepted()
    ibm.control.device('ibm_fez', 'paused')
    ibm.control.advance(3 * 24 * 3_600_000)
    expect(await stateOf(id)).toBe('Queued')
    const later = await ibm.accepted()
    ibm.control.device('ibm_fez', 'online')
    expect(await stateOf(id)).toBe('Running')
    ibm.control.advance(60_000)
    expect([await stateOf(id), await stateOf(later)]).toEqual(['Completed', 'Running'])
  })

  test('fails when its device is retired while it waits', async () => {
    const id = await ibm.accepted()
    ibm.control.device('ibm_fez', 'retired')
    expect((await ibm.job(id)).state).toEqual({ status: 'Failed', reason: 'The backend ibm_fez was retired.' })
    expect(await refused({})).toEqual([404, 1007, 'Backend not found: ibm_fez.'])
  })

  test('has words that no client knows while the fault "unknown_status" lasts', async () => {
    const id = await ibm.accepted()
    ibm.control.fault({ kind: 'unknown_status', times: 2 })
    expect(await ibm.job(id)).toMatchObject({ id, state: { status: 'Recalibrating' }, status: 'Recalibrating' })
    expect((await list('')).jobs[0].state.status).toBe('Recalibrating')
    expect(await stateOf(id)).toBe('Queued')
  })
})

describe('what a job uses', () => {
  const usageOf = async (id: string) => (await ibm.job(id)).usage
  const used = (seconds: number) => ({ qpu_charge_time_seconds: seconds, status: 'complete' })

  test('is pending for a while after its end, and a figure later', async () => {
    await settings({ usage_lag_ms: 60_000 })
    const id = await ibm.accepted(circuit(firstOfThree, 8_000))
    expect(await usageOf(id)).toBeUndefined()
    ibm.control.advance(121_000)
    expect([await stateOf(id), await usageOf(id)]).toEqual([
      'Completed',
      { qpu_charge_time_seconds: 0, status: 'pending' }
    ])
    ibm.control.advance(60_000)
    // A second, and 8,000 shots of 250 microseconds.
    expect(await usageOf(id)).toEqual(used(3))
    const { body } = await ibm.call('GET', `/jobs/${id}/metrics`)
    expect(body.usage).toEqual(used(3))
    const { created, running, finished } = body.timestamps
    expect([Date.parse(running) - Date.parse(created), Date.parse(finished) - Date.parse(running)]).toEqual([
      60_000, 60_000
    ])
    expect((await ibm.call('GET', '/instances/usage')).body).toMatchObject({
      instance_id: ibm.instance,
      usage_consumed_seconds: 3,
      usage_limit_reached: false
    })
  })

  test('is nothing if it never started', async () => {
    const id = await ibm.accepted()
    await ibm.call('POST', `/jobs/${id}/cancel`)
    expect(await usageOf(id)).toEqual(used(0))
  })

  test('is its share of the run if it was cancelled there', async () => {
    await settings({ qpu_seconds: 60 })
    const id = await ibm.accepted()
    ibm.control.advance(75_000)
    await ibm.call('POST', `/jobs/${id}/cancel`)
    ibm.control.advance(10_000)
    const { qpu_charge_time_seconds: seconds } = await usageOf(id)
    expect(seconds).toBeGreaterThanOrEqual(15)
    expect(seconds).toBeLessThan(30)
  })

  test('is capped by `cost`: a job that needs more is cancelled as it ran too long', async () => {
    await settings({ qpu_seconds: 60 })
    const id = await ibm.accepted({ cost: 20 })
    // The emulated time goes on by itself, too.
    ibm.control.advance(61_000)
    expect(await stateOf(id)).toBe('Running')
    ibm.control.advance(30_000)
    expect(await ibm.job(id)).toMatchObject({
      state: { status: 'Cancelled', reason_code: 1305, reason: expect.stringContaining('20 seconds') },
      status: 'Cancelled - Ran too long'
    })
    expect(await usageOf(id)).toEqual(used(20))
    expect((await ibm.call('GET', `/jobs/${id}/results`)).status).toBe(204)
  })

  test('is capped at three hours whatever is asked for, and at ten minutes by default', async () => {
    const [most, usual] = [await ibm.accepted({ cost: 20_000 }), await ibm.accepted()]
    expect([(await ibm.job(most)).cost, (await ibm.job(usual)).cost]).toEqual([10_800, 600])
  })

  test('ends an instance whose limit is reached with 409', async () => {
    await settings({ usage_limit_seconds: 2 })
    await ibm.accepted()
    ibm.control.advance(125_000)
    expect(await refused({})).toEqual([409, 4317, expect.stringContaining('limit of 2 seconds')])
    expect((await ibm.call('GET', '/instances/usage')).body.usage_limit_reached).toBe(true)
  })
})

describe('the list of jobs', () => {
  const several = async (count: number, changes: (index: number) => Record<string, unknown> = () => ({})) => {
    await settings({ starts_per_minute: 1_000 })
    const ids: string[] = []
    for (let index = 0; index < count; index++) {
      ids.push(await ibm.accepted(changes(index)))
      ibm.control.advance(1_000)
    }
    return ids
  }

  test('comes newest first, in pages, and without parameters unless asked', async () => {
    const ids = await several(5)
    const newest = [...ids].reverse()
    const first = await list('limit=2')
    expect([idsOf(first), first.count, first.limit, first.offset]).toEqual([newest.slice(0, 2), 5, 2, 0])
    expect(idsOf(await list('limit=2&offset=4'))).toEqual(newest.slice(4))
    expect(idsOf(await list('sort=ASC'))).toEqual(ids)
    expect((await list('limit=1000')).limit).toBe(200)
    expect(first.jobs[0].params).toBeUndefined()
    expect((await list('exclude_params=false')).jobs[0].params.version).toBe(2)
  })

  test('is filtered by tags, of which a job must have all', async () => {
    const [first, second] = await several(2, (index) => ({ tags: ['both', `own ${index}`] }))
    expect(idsOf(await list('tags=both'))).toEqual([second, first])
    expect(idsOf(await list(`tags=both&tags=${encodeURIComponent('own 0')}`))).toEqual([first])
    expect(idsOf(await list('tags=other'))).toEqual([])
    expect((await ibm.call('PUT', `/jobs/${first}/tags`, { tags: ['other'] })).status).toBe(204)
    expect([idsOf(await list('tags=other')), idsOf(await list('tags=both'))]).toEqual([[first], [second]])
  })

  test('is filtered by time, state and device', async () => {
    const [first, second] = await several(2, (index) => ({ backend: index === 0 ? 'ibm_fez' : 'ibm_marrakesh' }))
    await ibm.call('POST', `/jobs/${first}/cancel`)
    const { created } = await ibm.job(second!)
    expect(idsOf(await list(`created_after=${created}`))).toEqual([second])
    expect(idsOf(await list(`created_before=${new Date(Date.parse(created) - 1).toISOString()}`))).toEqual([first])
    expect(idsOf(await list('pending=true'))).toEqual([second])
    expect(idsOf(await list('pending=false'))).toEqual([first])
    expect(idsOf(await list('backend=ibm_fez'))).toEqual([first])
    expect(idsOf(await list('program=estimator'))).toEqual([])
  })

  test.each([
    ['sort=UP', 'sort'],
    ['created_after=yesterday', 'created_after'],
    ['pending=maybe', 'pending'],
    ['tag=one', 'tag: is not a filter']
  ])('refuses the query %s', async (query, words) => {
    expect(errorOf(await ibm.call('GET', `/jobs?${query}`))).toEqual([400, 3220, expect.stringContaining(words)])
  })
})

describe('POST /jobs', () => {
  const qpy = { __type__: 'QuantumCircuit', __value__: 'eJwL9Az29gwEAAXwAYA=' }
  const params = (more: Record<string, unknown>) => circuit(firstOfThree, 10, more)
  const pub = (...parts: unknown[]) => ({ params: { pubs: [parts], version: 2 } })

  test.each<[string, Record<string, unknown>, number, number, string]>([
    ['another program', { program_id: 'estimator' }, 400, 3220, 'runs only sampler, not estimator'],
    ['the program of the new primitives', { program_id: 'executor' }, 400, 3220, 'runs only sampler, not executor'],
    ['a circuit in QPY', pub(qpy, null, 10), 400, 3220, 'pubs.0: this emulator does not read circuits in QPY'],
    ['an unknown device', { backend: 'ibm_kyiv' }, 404, 1007, 'Backend not found: ibm_kyiv'],
    ['an unknown key of the parameters', params({ resilience_level: 1 }), 400, 3220, 'params.resilience_level'],
    ['an unknown key of the options', params({ options: { shots: 1 } }), 400, 3220, 'params.options.shots'],
    ['an unknown key', { start_session: true }, 400, 3220, 'start_session'],
    ['another version of the sampler', params({ version: 1 }), 400, 3220, 'params.version'],
    ['no parameters', { params: undefined }, 400, 3220, 'params'],
    ['no circuits', { params: { pubs: [] } }, 400, 3220, 'params.pubs'],
    ['a circuit as an object', { params: { pubs: [{ circuit: firstOfThree }] } }, 400, 3220, 'params.pubs.0'],
    ['values of parameters', pub(firstOfThree, { theta: 1 }, 10), 400, 3220, 'no values of parameters'],
    ['too many shots', circuit(firstOfThree, 100_001), 400, 1103, 'at most 100000 shots'],
    ['no shots', circuit(firstOfThree, 0), 400, 3220, 'must be a whole number from 1'],
    ['nine tags', { tags: Array.from({ length: 9 }, String) }, 400, 1204, 'at most 8 tags'],
    ['a long tag', { tags: ['x'.repeat(87)] }, 400, 1205, 'at most 86 characters'],
    ['a tag that is no text', { tags: [1] }, 400, 3220, 'tags'],
    ['a session', { session_id: 'abc' }, 400, 3220, 'no sessions'],
    ['a private job', { private: true }, 400, 3220, 'no private jobs'],
    ['raw measurements', params({ options: { execution: { meas_type: 'kerneled' } } }), 400, 3220, 'classified'],
    ['a negative cost', { cost: -1 }, 400, 3220, 'cost']
  ])('refuses %s', async (_name, changes, status, code, words) => {
    expect(await refused(changes)).toEqual([status, code, expect.stringContaining(words)])
    expect(ibm.control.tasks()).toEqual([])
  })

  test('takes what IBM documents beyond the least', async () => {
    await settings({ starts_per_minute: 100 })
    const options = { default_shots: 7, dynamical_decoupling: { enable: true }, twirling: { enable_gates: false } }
    const npy = "\x93NUMPY\x01\x00\x36\x00{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }\n"
    const empty = { __type__: 'ndarray', __value__: deflateSync(Buffer.from(npy, 'latin1')).toString('base64') }
    for (const changes of [
      { params: { pubs: [[firstOfThree]] }, log_level: 'WARNING', session_id: null },
      { params: { pubs: [[firstOfThree, [], null]], options, version: 2 } },
      { params: { pubs: [[firstOfThree, {}, 5]], shots: 3 } },
      { params: { pubs: [[firstOfThree, empty, 5]] } },
      { tags: ['x'.repeat(86), ...Array.from({ length: 7 }, String)] }
    ])
      expect(await ibm.submit(changes)).toMatchObject({ status: 200 })
    expect(ibm.control.tasks().map(({ shots }) => shots)).toEqual([4096, 7, 5, 5, 10])
  })

  test('takes five a minute of each user', async () => {
    for (let start = 0; start < 5; start++) await ibm.accepted()
    expect(await refused({})).toEqual([429, 1202, expect.stringContaining('5 per minute')])
    const { keys } = (await ibm.steer('GET', '/keys')).body
    const other = async (index: number) => {
      const authorization = `Bearer ${await ibm.accessToken(keys[index].token)}`
      const headers = { authorization, 'service-crn': keys[index].instance }
      return (await ibm.call('POST', '/jobs', aJob(), headers)).status
    }
    // The second key belongs to the same user, the third to another.
    expect([await other(1), await other(2)]).toEqual([429, 200])
    ibm.control.advance(60_000)
    expect((await ibm.submit()).status).toBe(200)
    expect(ibm.control.tasks()).toHaveLength(7)
  })

  test('refuses a body that is not JSON in the form of IBM', async () => {
    expect(errorOf(await ibm.call('POST', '/jobs', '{'))).toEqual([400, 3220, expect.any(String)])
  })
})

describe('a device', () => {
  test('has the size, basis and couplings of the real one', async () => {
    const { body } = await ibm.call('GET', '/backends/ibm_fez/configuration')
    expect(body).toMatchObject({ backend_name: 'ibm_fez', n_qubits: 156, max_shots: 100_000, simulator: false })
    expect([...body.basis_gates].sort()).toEqual(['cz', 'id', 'rz', 'sx', 'x'])
    const pairs: [number, number][] = body.coupling_map
    expect(pairs).toHaveLength(352)
    expect(pairs).toEqual(body.gates.find(({ name }: { name: string }) => name === 'cz').coupling_map)
    const neighbours = Array.from({ length: 156 }, (_, qubit) => pairs.filter(([first]) => first === qubit).length)
    expect([Math.min(...neighbours), Math.max(...neighbours)]).toEqual([1, 3])
    const known = new Set(pairs.map(String))
    expect(pairs.filter(([first, second]) => !known.has(String([second, first])))).toEqual([])
  })

  test('has errors and times of every qubit and gate', async () => {
    const { body } = await ibm.call('GET', '/backends/ibm_marrakesh/properties')
    expect(body).toMatchObject({ backend_name: 'ibm_marrakesh', last_update_date: expect.any(String) })
    expect(body.qubits).toHaveLength(156)
    expect(body.qubits[0].map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['T1', 'T2', 'readout_error'])
    )
    const cz = body.gates.filter(({ gate }: { gate: string }) => gate === 'cz')
    expect([cz.length, cz[0].name, cz[0].qubits]).toEqual([352, 'cz0_1', [0, 1]])
    expect((await ibm.call('GET', '/backends/ibm_fez/defaults')).status).toBe(200)
  })

  test('tells its status and queue', async () => {
    await ibm.accepted()
    await settings({ queue_depth: 40 })
    ibm.control.device('ibm_fez', 'PAUSED')
    const { devices } = (await ibm.call('GET', '/backends?fields=wait_time_seconds')).body
    expect(devices).toMatchObject([
      { name: 'ibm_fez', status: { name: 'paused', reason: 'maintenance' }, queue_length: 41, qubits: 156 },
      { name: 'ibm_marrakesh', status: { name: 'online' }, queue_length: 40, is_simulator: false }
    ])
    expect(devices[0].wait_time_seconds).toMatchObject({ average: expect.any(Number) })
    expect((await ibm.call('GET', '/backends')).body.devices[0].wait_time_seconds).toBeUndefined()
    expect((await ibm.call('GET', '/backends/ibm_fez/status')).body).toMatchObject({
      state: false,
      status: 'maintenance',
      length_queue: 41
    })
  })

  test('is no longer listed once it is retired', async () => {
    ibm.control.device('ibm_fez', 'retired')
    const { devices } = (await ibm.call('GET', '/backends')).body
    expect(devices.map(({ name }: { name: string }) => name)).toEqual(['ibm_marrakesh'])
    expect(errorOf(await ibm.call('GET', '/backends/ibm_fez/status'))).toEqual([404, 1007, expect.any(String)])
    expect((await ibm.steer('POST', '/devices', { device: 'ibm_fez', status: 'broken' })).body.error).toContain(
      'online, paused, offline, retired'
    )
  })

  test('gets a new calibration with each change of the noise', async () => {
    const before = (await ibm.submit()).body.calibration_id
    ibm.control.noise(0.1)
    const after = (await ibm.submit()).body.calibration_id
    expect(after).not.toBe(before)
    expect((await ibm.call('GET', `/backends/ibm_fez/properties?calibration_id=${after}`)).status).toBe(200)
    expect((await ibm.call('GET', `/backends/ibm_fez/properties?calibration_id=${before}`)).status).toBe(404)
    expect(await refused({ calibration_id: before })).toEqual([400, 3220, expect.stringContaining(after)])
  })
})

test('a job that fails says why in its logs, and has used nothing', async () => {
  const { record } = await ibm.run(circuit(isa('h $0;\n')))
  expect(record.usage).toEqual({ qpu_charge_time_seconds: 0, status: 'complete' })
  const { headers, text } = await ibm.call('GET', `/jobs/${record.id}/logs`)
  expect([headers.get('content-type'), text]).toEqual([
    expect.stringContaining('text/plain'),
    expect.stringContaining(record.state.reason)
  ])
})
