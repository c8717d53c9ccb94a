// The adapter of IBM Quantum against a server that says what a test wants: jobs, their results, and devices.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { ProviderFault, type ProviderFaultKind } from '../../../services/providers/adapter.js'
import { at, configuration, credentials, fault, OTHER_CRN, signal, startIbmScene, target, task } from './ibm-scene.js'
import { type Answer, refusal } from './ibm-server.js'

const scene = await startIbmScene()
const { server, submit, look, counts, describe: describeDevice } = scene
beforeEach(() => scene.reset())
afterAll(() => scene.close())

describe('a submission', () => {
  test('is one job of the program sampler with the token as its tag', async () => {
    expect(await submit()).toBe('one')
    const [request, ...more] = server.requests()
    const { path, headers, body } = request!
    expect([path, headers['content-type'], more]).toEqual(['/jobs', 'application/json', []])
    expect(JSON.parse(body)).toEqual({
      program_id: 'sampler',
      backend: target,
      params: { pubs: [[task.program.text, null, 2]], support_qiskit: false, version: 2 },
      tags: [task.token]
    })
  })

  test.each([
    [600, 600],
    [60.9, 60],
    [0.5, 1],
    [20_000, 10_800]
  ])('that may use %p seconds says so: cost %p', async (secondsMax, cost) => {
    await submit({ ...task, secondsMax })
    expect(JSON.parse(server.requests()[0]!.body)).toMatchObject({ cost })
  })

  test('is free of requests to IBM Quantum until the paid one', async () => {
    await scene.ibm.stage(at, task, signal)
    expect([server.tokenRequests().length, server.requests().length]).toEqual([1, 0])
  })

  test.each<[string, Answer, ProviderFaultKind, RegExp]>([
    ['a wrong request', refusal(400, 8, 'bad'), 'refused', /400: bad \(8\)$/],
    ['a circuit that is not ISA', refusal(400, 1517, 'Circuits do not match'), 'refused', /do not match .*1517/],
    ['no access', refusal(403, '1', 'no'), 'unauthorized', /403/],
    ['an unknown device', refusal(404, 1007, 'Backend not found.'), 'not_found', /Backend not found/],
    ['used-up seconds', refusal(409, 1, 'Usage exceeds instance limit'), 'busy', /409: Usage exceeds/],
    ['too many jobs under way', refusal(400, 3458, 'Reached maximum number of jobs'), 'busy', /3458/],
    ['too many requests', { status: 429, headers: { 'retry-after': '7' } }, 'busy', /429/],
    ['an outage', { status: 500, body: { error: { code: 1, message: 'older form' } } }, 'unclear', /older form \(1\)/],
    ['a word of a proxy', { body: '<html>' }, 'unclear', /without a JSON object/],
    ['a list', { body: '[]' }, 'unclear', /without a JSON object/],
    ['no id', { body: { backend: target } }, 'unclear', /without naming a job/],
    ['an id that is none', { body: { id: '../evil' } }, 'unclear', /without naming a job/],
    ['an id that is no text', { body: { id: { toString: 1 } } }, 'unclear', /without naming a job/]
  ])('that is answered with %s is sorted by what that means', async (_what, answer, kind, message) => {
    server.answer({ 'POST /jobs': answer })
    await expect(submit()).rejects.toEqual(fault(kind, message))
    expect(server.requests()).toHaveLength(1)
  })

  test('waits for as long as IBM says', async () => {
    server.answer({ 'POST /jobs': { status: 429, headers: { 'retry-after': '7' } } })
    await expect(submit()).rejects.toMatchObject({ retryAfterMs: 7_000 })
  })

  test('goes to what can be the name of a device alone', async () => {
    await expect(scene.ibm.place(credentials, '../users', signal)).rejects.toEqual(fault('refused', /not the name/))
  })
})

describe('the list of jobs', () => {
  const find = (since = new Date()) => scene.ibm.find(at, task, since, signal)
  const others = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `other-${n}`, tags: ['other'] }))

  test('is searched by the tag, from an hour before the first try', async () => {
    server.answer({ 'GET /jobs': { body: { jobs: [{ id: 'mine', tags: [task.token] }] } } })
    expect(await find(new Date('2026-07-01T12:00:00Z'))).toBe('mine')
    expect(server.requests()[0]!.query).toEqual({
      tags: task.token,
      created_after: '2026-07-01T11:00:00.000Z',
      limit: '200',
      offset: '0',
      exclude_params: 'true'
    })
  })

  test('without the job means that it does not exist', async () => {
    expect(await find()).toBeNull()
  })

  test('is read to its end, even if IBM ignores the tag', async () => {
    const all = [...others(450), { id: 'mine', tags: ['a', task.token] }]
    server.answer({
      'GET /jobs': ({ query }) => ({ body: { jobs: all.slice(Number(query.offset)).slice(0, 200) } })
    })
    expect(await find()).toBe('mine')
    expect(server.requests().map(({ query }) => query.offset)).toEqual(['0', '200', '400'])
    expect(await scene.ibm.find(at, { token: 'unknown', target }, new Date(), signal)).toBeNull()
  })

  test('that never ends is given up', async () => {
    server.answer({ 'GET /jobs': { body: { jobs: others(200) } } })
    await expect(find()).rejects.toEqual(fault('unclear', /no end/))
    expect(server.requests()).toHaveLength(50)
  })

  test.each<[string, object]>([
    ['no jobs', { count: 0 }],
    ['jobs that are no list', { jobs: { one: {} } }],
    ['the job without an id', { jobs: [null, 7, { tags: [task.token] }] }]
  ])('with %s is unclear, not a list without the job', async (_what, body) => {
    server.answer({ 'GET /jobs': { body } })
    await expect(find()).rejects.toEqual(fault('unclear', /listed/))
  })
})

describe('a result', () => {
  test('is read with the calibration of its job', async () => {
    expect(await counts()).toEqual({
      counts: { '100': 2 },
      source: 'provider_measurements',
      probabilities: null,
      executionTimeMs: null,
      calibrationId: 'a-calibration'
    })
  })

  test.each<[string, Answer]>([
    ['204', { status: 204 }],
    ['a job that has not ended', refusal(400, 1234, 'Cannot get results for a job in a non-terminal state.')],
    ['404', refusal(404, 1291, 'Job not found.')]
  ])('that is answered with %s is not there yet', async (_what, answer) => {
    server.answer({ 'GET /jobs/one/results': answer })
    await expect(counts()).rejects.toEqual(fault('not_found', /./))
  })

  test('of another form is refused with the reason', async () => {
    server.answer({ 'GET /jobs/one/results': { body: { __type__: 'PrimitiveResult', __value__: {} } } })
    await expect(counts()).rejects.toEqual(fault('refused', /results cannot be read: .*support_qiskit/))
  })

  test.each([7, '', 'x'.repeat(101), { a: 1 }, undefined])(
    'without an id of a calibration (%p) names none',
    async (calibration_id) => {
      server.answer({ 'GET /jobs/one': { body: { state: { status: 'Completed' }, calibration_id } } })
      expect(await counts()).toMatchObject({ calibrationId: null })
    }
  )
})

test.each([204, 409])('a cancellation that is answered with %p is done or too late', async (status) => {
  server.answer({ 'POST /jobs/one/cancel': { status } })
  await scene.ibm.cancel(at, 'one', signal)
  expect(server.requests()).toHaveLength(1)
})

test('a cancellation that IBM refuses is a fault', async () => {
  server.answer({ 'POST /jobs/one/cancel': refusal(404, 1291, 'Job not found.') })
  await expect(scene.ibm.cancel(at, 'one', signal)).rejects.toEqual(fault('not_found', /404/))
})

describe('a device', () => {
  test('is described by its configuration and status, once in five minutes for a key and an instance', async () => {
    const facts = await describeDevice()
    expect(facts).toEqual({
      target: {
        format: 'ibm',
        num_qubits: 3,
        basis_gates: ['cz', 'id', 'rz', 'sx', 'x'],
        coupling_map: configuration.coupling_map
      },
      status: 'online',
      shots: { min: 1, max: 100_000 },
      price: null
    })
    expect(await describeDevice()).toBe(facts)
    expect(server.requests()).toHaveLength(2)
    await describeDevice({ ...credentials, instance: OTHER_CRN })
    await describeDevice({ ...credentials, token: 'another-api-key' })
    expect(server.requests()).toHaveLength(6)
  })

  test.each(['configuration', 'status'])('whose %s the instance does not show is refused by name', async (part) => {
    server.answer({ [`GET /backends/ibm_fez/${part}`]: refusal(404, 1007, 'Backend not found.') })
    const told = fault('refused', /Backend not found.*has no device ibm_fez: set another instance/)
    await expect(describeDevice()).rejects.toEqual(told)
    // A reason that a script can show does not hold the account.
    await expect(describeDevice()).rejects.not.toMatchObject({ message: expect.stringContaining('crn:') })
  })

  test('whose configuration cannot be read is refused with the reason', async () => {
    server.answer({ 'GET /backends/ibm_fez/configuration': { body: { ...configuration, coupling_map: null } } })
    await expect(describeDevice()).rejects.toEqual(fault('refused', /configuration of ibm_fez .* coupled qubits/))
  })

  test('is described again after a fault', async () => {
    server.answer({ 'GET /backends/ibm_fez/status': { status: 503 } })
    await expect(describeDevice()).rejects.toEqual(fault('unclear', /503/))
    server.answer({ 'GET /backends/ibm_fez/status': { body: { status: 'active' } } })
    expect(await describeDevice()).toMatchObject({ status: 'online' })
  })

  test('is in the list with its status and queue', async () => {
    server.answer({
      'GET /backends': {
        body: {
          devices: [
            { name: target, status: { name: 'online' }, queue_length: 7, wait_time_seconds: { average: 60, p50: 30 } },
            { name: 'ibm_marrakesh', status: { name: 'paused', reason: 'maintenance' }, queue_length: 15 }
          ]
        }
      }
    })
    expect(await scene.ibm.backends(credentials, signal)).toEqual([
      { target, status: 'online', queueTimeSeconds: 60, queueLength: 7 },
      { target: 'ibm_marrakesh', status: 'offline', queueTimeSeconds: null, queueLength: 15 }
    ])
    expect(server.requests()[0]!.query).toEqual({ fields: 'wait_time_seconds' })
    await expect(scene.ibm.backends(null, signal)).rejects.toEqual(fault('unauthorized', /only with credentials/))
  })
})

describe('an answer of any form', () => {
  const bodies: unknown[] = [
    '<html>',
    '',
    'null',
    '[]',
    '7',
    '"text"',
    {},
    { __proto__: null, constructor: 1 },
    { state: null, status: null, usage: null, tags: null },
    { state: [], status: {}, usage: 'x', jobs: [[]], devices: [null], results: [null] },
    {
      state: { status: { toString: 1 }, reason: 7, reason_code: 'x' },
      status: 7,
      usage: { status: 7, quantum_seconds: 'x' }
    },
    { errors: 7, results: [{ data: { c: 7 } }], n_qubits: {}, basis_gates: [{}], coupling_map: [null] },
    { results: [{ data: { c: { samples: [{}, []], num_bits: 3 } } }], devices: 'all', n_qubits: 3, basis_gates: ['cz'] }
  ]
  const statuses = [200, 400, 404, 500]

  test.each(statuses)('and status %p is a fault, or a job that still runs', async (status) => {
    for (const body of bodies) {
      const answer = { status, body: body as string | object }
      for (const path of ['/jobs', '/jobs/one', '/jobs/one/results', '/backends', '/backends/ibm_fez/configuration'])
        server.answer({ [`GET ${path}`]: answer, [`POST ${path}`]: answer })
      const calls = {
        verify: () => scene.ibm.verify(credentials, signal),
        describe: () => describeDevice(),
        submit: () => submit(),
        find: () => scene.ibm.find(at, task, new Date(), signal),
        counts,
        backends: () => scene.ibm.backends(credentials, signal)
      }
      for (const [name, call] of Object.entries(calls)) {
        const end = await call().then(
          (value) => ({ value }),
          (error) => ({ name: (error as Error).name })
        )
        expect([name, body, end]).toEqual([name, body, { name: ProviderFault.name }])
      }
      const view = await look().catch((error) => error as ProviderFault)
      if (view instanceof ProviderFault) expect(view.message).toMatch(/^IBM Quantum/)
      else expect(view).toMatchObject({ status: 'running', cost: null })
    }
  })
})
