// The adapter of IBM Quantum against a server that says what a test wants.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault, type ProviderFaultKind, type ProviderJobRequest } from '../../../services/providers/adapter.js'
import { createIbm } from '../../../services/providers/ibm/ibm.js'
import { addressOf } from '../../../services/providers/ibm/instance.js'
import { type Answer, accessToken, refusal, startIbmServer } from './ibm-server.js'

const crnOf = (region: string, instance = '01234567-89ab-cdef-0123-456789abcdef') =>
  `crn:v1:bluemix:public:quantum-computing:${region}:a/0123456789abcdef0123456789abcdef:${instance}::`
const CRN = crnOf('us-east')
const OTHER_CRN = crnOf('us-east', '76543210-89ab-cdef-0123-456789abcdef')
const credentials: Credentials = { token: 'CANARY-an-api-key-of-ibm-cloud', instance: CRN }
const target = 'ibm_fez'
const at = { credentials, place: { account: CRN, region: 'us-east' } }
const { signal } = new AbortController()

const task: ProviderJobRequest = {
  token: 'f'.repeat(64),
  target,
  program: {
    text: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nbit[3] c;\nx $4;\nc[0] = measure $4;\n',
    qubits: 3,
    readout: { kind: 'clbits', bits: [0, 1, 2], registers: [{ name: 'c', size: 3 }] }
  },
  shots: 2,
  name: 'a job'
}
const configuration = {
  backend_name: target,
  n_qubits: 3,
  basis_gates: ['cz', 'id', 'rx', 'rz', 'rzz', 'sx', 'x'],
  coupling_map: [
    [0, 1],
    [1, 0],
    [1, 2]
  ],
  max_shots: 100_000
}
const result = { results: [{ data: { c: { samples: ['0x1', '0x1'], num_bits: 3 } }, metadata: {} }], metadata: {} }

const server = await startIbmServer()
let ibm = createIbm()
beforeEach(async () => {
  await ibm.close()
  ibm = createIbm(server.urls)
  server.reset()
  server.answer({
    'GET /backends': { body: { devices: [{ name: target, status: { name: 'online' }, queue_length: 7 }] } },
    'GET /backends/ibm_fez/configuration': { body: configuration },
    'GET /backends/ibm_fez/status': { body: { state: true, status: 'active', message: '', length_queue: 7 } },
    'POST /jobs': { body: { id: 'one', backend: target } },
    'GET /jobs': { body: { jobs: [], limit: 200, offset: 0 } },
    'GET /jobs/one': { body: { id: 'one', state: { status: 'Completed' }, calibration_id: 'a-calibration' } },
    'GET /jobs/one/results': { body: result },
    'POST /jobs/one/cancel': { status: 204 }
  })
})
afterAll(async () => {
  await ibm.close()
  await server.close()
})

const submit = async (job = task) => (await ibm.stage(at, job, signal))(signal)
const look = () => ibm.look(at, 'one', signal)
const counts = () => ibm.counts(at, 'one', task, signal)
const describeDevice = (own = credentials) => ibm.describe(own, { target, width: null }, signal)
const fault = (kind: ProviderFaultKind, message: RegExp | string) =>
  expect.objectContaining({ name: ProviderFault.name, kind, message: expect.stringMatching(message) })

describe('a token of IAM', () => {
  test('is requested once with the key, and sent with the instance and the version of the API', async () => {
    await look()
    await look()
    expect(server.tokenRequests()).toHaveLength(1)
    const form = Object.fromEntries(new URLSearchParams(server.tokenRequests()[0]!.body))
    expect(form).toEqual({ grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: credentials.token })
    expect(server.requests()[1]!.headers).toMatchObject({
      authorization: 'Bearer access-token-of-the-hour',
      'service-crn': CRN,
      'ibm-api-version': '2026-04-15'
    })
  })

  test.each([300, 0, -1, null, '3600'])(
    'that expires within five minutes, or at no known time (%p), is used once',
    async (expires) => {
      server.answer({ 'POST /identity/token': accessToken('a-short-token', expires) })
      await look()
      await look()
      expect(server.tokenRequests()).toHaveLength(2)
    }
  )

  test('is not that of another key', async () => {
    await look()
    await ibm.look({ ...at, credentials: { ...credentials, token: 'another-api-key' } }, 'one', signal)
    expect(server.tokenRequests()).toHaveLength(2)
  })

  test('that IBM no longer takes is replaced once', async () => {
    let issued = 0
    server.answer({
      'POST /identity/token': () => accessToken(`access-token-${++issued}`),
      'GET /jobs/one': ({ headers }) =>
        headers.authorization === 'Bearer access-token-1'
          ? refusal(401, 1219, 'Error authenticating user.')
          : { body: { state: { status: 'Running' } } }
    })
    expect(await look()).toMatchObject({ status: 'running' })
    expect(await look()).toMatchObject({ status: 'running' })
    expect([issued, server.requests().length]).toEqual([2, 3])
  })

  test('is replaced at the paid request too, which is then sent once more', async () => {
    let issued = 0
    server.answer({
      'POST /identity/token': () => accessToken(`access-token-${++issued}`),
      'POST /jobs': ({ headers }) =>
        headers.authorization === 'Bearer access-token-1' ? { status: 401 } : { body: { id: 'one' } }
    })
    expect(await submit()).toBe('one')
    expect(server.requests().map(({ body }) => body)).toEqual(Array(2).fill(expect.stringContaining(task.token)))
  })

  test('that IBM rejects for good means rejected credentials, after one more', async () => {
    server.answer({ 'GET /jobs/one': refusal(401, 1219, 'Error authenticating user.') })
    await expect(look()).rejects.toEqual(
      fault('unauthorized', 'IBM Quantum returned 401: Error authenticating user. \\(1219\\)')
    )
    expect([server.tokenRequests().length, server.requests().length]).toEqual([2, 2])
  })

  test('is refused for a key that IAM does not know: the team reads what to store', async () => {
    server.answer({
      'POST /identity/token': {
        status: 400,
        body: { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.', context: {} }
      }
    })
    const told = fault('unauthorized', /IAM returned 400: Provided API key could not be found.; store a valid token/)
    await expect(ibm.verify(credentials, signal)).rejects.toEqual(told)
    await expect(submit()).rejects.toEqual(told)
    expect(server.requests()).toEqual([])
  })

  test.each<[string, Answer]>([
    ['fails', { status: 503, body: '<html>' }],
    ['answers without JSON', { body: '<html>' }],
    ['answers null', { body: 'null' }],
    ['names no token', { body: { expires_in: 3600 } }],
    ['names a token that is no text', { body: { access_token: { a: 1 }, expires_in: 3600 } }],
    ['names a token that would add a header', { body: { access_token: 'a\r\nx-evil: 1', expires_in: 3600 } }],
    ['names a token that is too long', accessToken('t'.repeat(10_000))]
  ])('is missing when IAM %s: nothing was sent to IBM Quantum', async (_what, answer) => {
    server.answer({ 'POST /identity/token': answer })
    await expect(submit()).rejects.toEqual(fault('unreachable', 'IBM Cloud IAM'))
    expect(server.requests()).toEqual([])
  })

  test('and a key are in no message, even if an answer repeats them', async () => {
    const messages: string[] = []
    const failed = (error: unknown) => messages.push((error as Error).message)
    server.answer({ 'GET /jobs/one': ({ headers }) => refusal(400, 1, `${'x'.repeat(480)}${headers.authorization}`) })
    await look().catch(failed)
    server.answer({ 'GET /jobs/one': ({ headers }) => refusal(400, 1, `headers: ${headers.authorization}`) })
    await look().catch(failed)
    server.answer({
      'POST /identity/token': ({ body }) => ({ status: 400, body: { errorMessage: decodeURIComponent(body) } })
    })
    await ibm.verify(credentials, signal).catch(failed)
    expect(messages).toHaveLength(3)
    for (const message of messages) expect(message).not.toMatch(/CANARY-|access-token/)
  })
})

describe('the instance', () => {
  test('decides the address by its region', () => {
    expect(addressOf({ crn: CRN, region: 'us-east' })).toBe('https://quantum.cloud.ibm.com/api/v1')
    expect(addressOf({ crn: crnOf('eu-de'), region: 'eu-de' })).toBe('https://eu-de.quantum.cloud.ibm.com/api/v1')
  })

  test('is the place of a job, with its region', async () => {
    expect(await ibm.place(credentials, target, signal)).toEqual({ account: CRN, region: 'us-east' })
    const german = { ...credentials, instance: crnOf('eu-de') }
    expect(await ibm.place(german, target, signal)).toEqual({ account: crnOf('eu-de'), region: 'eu-de' })
  })

  test.each<[string, Credentials, RegExp]>([
    ['is missing', { token: 'an-api-key' }, /^No instance: set instance in the team's ibm-quantum credentials$/],
    [
      'is a path',
      { token: 'an-api-key', instance: 'ibm-q/open/main' },
      /path hub\/group\/project, which IBM has ended: set instance .* CRN/
    ],
    [
      'is in a region without IBM Quantum',
      { token: 'an-api-key', instance: crnOf('mars-1') },
      /in mars-1.* us-east, eu-de: set instance/
    ]
  ])('that %s is refused before anything is sent, with what to set', async (_what, own, reason) => {
    await expect(ibm.place(own, target, signal)).rejects.toEqual(fault('refused', reason))
    await expect(describeDevice(own)).rejects.toEqual(fault('refused', reason))
    await expect(ibm.stage({ credentials: own, place: {} }, task, signal)).rejects.toEqual(fault('refused', reason))
    // Another team's credentials are then used to read the machines.
    await expect(ibm.backends(own, signal)).rejects.toEqual(fault('unauthorized', reason))
    expect(server.requests()).toEqual([])
  })

  test('of a job stays that of its submission, and the present key is used', async () => {
    await ibm.look({ ...at, credentials: { token: 'another-api-key', instance: OTHER_CRN } }, 'one', signal)
    expect(server.requests()[0]!.headers['service-crn']).toBe(CRN)
  })

  test('that the present key does not open is named', async () => {
    server.answer({ 'GET /jobs/one': refusal(404, 1291, 'Job not found. Job ID: one') })
    const moved = { ...at, credentials: { ...credentials, instance: OTHER_CRN } }
    await expect(ibm.look(moved, 'one', signal)).rejects.toEqual(
      fault('unauthorized', `Job not found.*the job is in the instance ${CRN}`)
    )
    await expect(look()).rejects.toEqual(fault('not_found', /404/))
  })

  test('keeps a job waiting whose key the team has deleted', async () => {
    const keyless = { ...at, credentials: { instance: CRN } }
    await expect(ibm.look(keyless, 'one', signal)).rejects.toEqual(fault('unauthorized', /set token/))
  })
})

describe('credentials', () => {
  test('are checked with IAM and the instance, and what they open is named', async () => {
    expect(await ibm.verify(credentials, signal)).toEqual({ instance: CRN, region: 'us-east', devices: [target] })
    await ibm.verify(credentials, signal)
    // The token in use says nothing about the key.
    expect(server.tokenRequests()).toHaveLength(2)
  })

  test('without an instance are taken, and what they lack is named', async () => {
    expect(await ibm.verify({ token: 'an-api-key' }, signal)).toEqual({ instance: 'not set: jobs need instance' })
  })

  test.each([
    ['that IBM does not know', CRN, refusal(404, 1, 'no such instance'), /no such instance/],
    ['that is not theirs', CRN, refusal(403, 1, 'no access'), /no access/],
    ['that is a path', 'ibm-q/open/main', {}, /IBM has ended/]
  ])('with an instance %s are rejected', async (_what, instance, answer, reason) => {
    server.answer({ 'GET /backends': answer })
    await expect(ibm.verify({ ...credentials, instance }, signal)).rejects.toEqual(fault('unauthorized', reason))
  })

  test('are neither valid nor invalid while IBM is away', async () => {
    server.answer({ 'GET /backends': { status: 503 } })
    await expect(ibm.verify(credentials, signal)).rejects.toEqual(fault('unclear', /503/))
  })
})

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
    await ibm.stage(at, task, signal)
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
    await expect(ibm.place(credentials, '../users', signal)).rejects.toEqual(fault('refused', /not the name/))
  })
})

describe('the list of jobs', () => {
  const find = (since = new Date()) => ibm.find(at, task, since, signal)
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
    expect(await ibm.find(at, { token: 'unknown', target }, new Date(), signal)).toBeNull()
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
  await ibm.cancel(at, 'one', signal)
  expect(server.requests()).toHaveLength(1)
})

test('a cancellation that IBM refuses is a fault', async () => {
  server.answer({ 'POST /jobs/one/cancel': refusal(404, 1291, 'Job not found.') })
  await expect(ibm.cancel(at, 'one', signal)).rejects.toEqual(fault('not_found', /404/))
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
    expect(await ibm.backends(credentials, signal)).toEqual([
      { target, status: 'online', queueTimeSeconds: 60, queueLength: 7 },
      { target: 'ibm_marrakesh', status: 'offline', queueTimeSeconds: null, queueLength: 15 }
    ])
    expect(server.requests()[0]!.query).toEqual({ fields: 'wait_time_seconds' })
    await expect(ibm.backends(null, signal)).rejects.toEqual(fault('unauthorized', /only with credentials/))
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
        verify: () => ibm.verify(credentials, signal),
        describe: () => describeDevice(),
        submit: () => submit(),
        find: () => ibm.find(at, task, new Date(), signal),
        counts,
        backends: () => ibm.backends(credentials, signal)
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
