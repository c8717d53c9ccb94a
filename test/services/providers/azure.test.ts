// The adapter of Azure Quantum against a local server that gives Azure's answers, and others.
import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { ProviderFaultKind } from '../../../services/providers/adapter.js'
import { jobIdOf } from '../../../services/providers/azure/jobs.js'
import { at, fault, ID, signal, startAzureScene } from './azure-scene.js'
import { asymmetric, CANARY, jobOf, keyed, principal } from './azure-server.js'

const scene = await startAzureScene()
const { server } = scene
beforeEach(() => scene.reset())
afterAll(() => scene.close())

const since = new Date()

const describeTarget = (target: string, width: number | null = null) =>
  scene.azure.describe(principal, { target, width }, signal)
const { submit } = scene

describe('a target', () => {
  const catalogue = (
    JSON.parse(readFileSync(new URL('../../../db/seed/backends.json', import.meta.url), 'utf8')) as {
      provider: string
      providerTargetId: string
      maxQubits: number
      maxShots: number
    }[]
  ).filter(({ provider }) => provider === 'Azure Quantum')

  test('of the catalogue is described with the width and the shots of the catalogue', async () => {
    expect(catalogue).toHaveLength(4)
    for (const { providerTargetId, maxQubits, maxShots } of catalogue) {
      const { target, shots, price } = await describeTarget(providerTargetId)
      expect([providerTargetId, target.num_qubits, shots, price]).toEqual([
        providerTargetId,
        maxQubits,
        { min: 1, max: maxShots },
        null
      ])
    }
  })

  test.each([
    ['ionq.simulator', 'ionq', 'online'],
    ['ionq.qpu.forte-1', 'ionq', 'online'],
    ['quantinuum.qpu.h2-1', 'qasm2', 'online'],
    ['quantinuum.sim.h2-1sc', 'qasm2', 'offline'],
    ['rigetti.sim.qvm', 'quil', 'online'],
    ['rigetti.qpu.resting', 'quil', 'offline']
  ])('%s takes %s, and is %s', async (target, format, status) => {
    expect(await describeTarget(target)).toMatchObject({ target: { format }, status })
  })

  test('has the width that Azure names, else that of the catalogue', async () => {
    expect((await describeTarget('ionq.qpu.forte-1', 11)).target.num_qubits).toBe(36)
    expect((await describeTarget('rigetti.qpu.resting', 84)).target.num_qubits).toBe(84)
    expect((await describeTarget('rigetti.qpu.resting')).target.num_qubits).toBeNull()
  })

  test('that is not in the workspace is refused', async () => {
    await expect(describeTarget('quantinuum.qpu.h2-2')).rejects.toEqual(
      fault('refused', /quantinuum\.qpu\.h2-2 is not in the workspace .*workspace-1: add the provider quantinuum/)
    )
  })

  test.each([
    'pasqal.sim.emu-tn',
    'microsoft.estimator',
    'toString',
    'ionq',
    'ionq.',
    'ionq.qpu/../x',
    'IONQ.simulator',
    ''
  ])('with the name %p is refused unsent', async (target) => {
    await expect(describeTarget(target)).rejects.toEqual(fault('refused', /not a target of ionq, quantinuum, rigetti/))
    expect(server.asked).toEqual([])
  })

  test('is asked for once in five minutes, for each identity', async () => {
    await describeTarget('ionq.simulator')
    await describeTarget('rigetti.sim.qvm')
    expect(server.askedOf('status')).toHaveLength(1)
    await scene.azure.describe(keyed, { target: 'ionq.simulator', width: null }, signal)
    expect(server.askedOf('status')).toHaveLength(2)
  })

  test('shows its status and its queue', async () => {
    const states = await scene.azure.backends(principal, signal)
    expect(states).toHaveLength(6)
    expect(states[0]).toEqual({ target: 'ionq.simulator', status: 'online', queueTimeSeconds: 12, queueLength: null })
  })

  test('is found on a later page, which the workspace itself is asked for', async () => {
    const target = { id: 'ionq.simulator', currentAvailability: 'Available' }
    server.answer({
      status: ({ query }) =>
        query.get('skip') === '1'
          ? { body: { value: [{ targets: [target] }] } }
          : { body: { value: [], nextLink: 'https://evil.example/providerStatus?skip=1&api-version=1' } }
    })
    expect(await scene.azure.backends(principal, signal)).toMatchObject([{ target: 'ionq.simulator' }])
    expect(server.askedOf('status')[1]!.query.get('api-version')).toBe('2026-01-15-preview')
  })

  test.each<[string, string | object, RegExp]>([
    ['without JSON', '<html>', /without JSON/],
    ['without a list', { value: {} }, /listed no providers/],
    ['without an end', { value: [], nextLink: 'https://a.example/?skip=1' }, /has no end/],
    ['with too many', { value: [{ targets: Array(1001).fill({ id: 'ionq.simulator' }) }], nextLink: null }, /no end/]
  ])('cannot be read from a list %s', async (_what, body, message) => {
    server.answer({ status: { body } })
    await expect(scene.azure.backends(principal, signal)).rejects.toEqual(fault('unclear', message))
  })

  test('of another form is left out of the list', async () => {
    const targets = [null, 5, 'x', [], {}, { id: 5 }, { id: '' }, { id: 'x'.repeat(200) }, { id: 'ionq.simulator' }]
    server.answer({ status: { body: { value: [null, 5, {}, { targets: 5 }, { targets }] } } })
    expect(await scene.azure.backends(principal, signal)).toEqual([
      { target: 'ionq.simulator', status: 'offline', queueTimeSeconds: null, queueLength: null }
    ])
  })
})

describe('a submission', () => {
  const rows = [
    ['ionq', 'ionq.simulator', 'ionq.circuit.v1', 'ionq.quantum-results.v1', 'application/json', { shots: 20 }],
    [
      'quantinuum',
      'quantinuum.qpu.h2-1',
      'honeywell.openqasm.v1',
      'honeywell.quantum-results.v1',
      'application/qasm',
      { shots: 20 }
    ],
    ['rigetti', 'rigetti.sim.qvm', 'rigetti.quil.v1', 'rigetti.quil-results.v1', 'text/plain', { shots: 20 }]
  ] as const

  test.each(rows)(
    'of %s uploads the program, and creates the job under an id made from the token',
    async (provider, target, inputDataFormat, outputDataFormat, type, inputParams) => {
      const task = jobOf({ target, program: asymmetric[provider] })
      const id = jobIdOf(task.token)
      expect(await submit(task)).toBe(id)
      expect(server.asked.map(({ service }) => service).filter((one) => one !== 'token')).toEqual([
        'manager',
        'sas',
        'upload',
        'create'
      ])
      expect(JSON.parse(server.askedOf('sas')[0]!.text)).toEqual({ containerName: `job-${id}` })
      expect(server.askedOf('upload')[0]).toMatchObject({
        path: `/blobs/job-${id}/inputData`,
        text: task.program.text,
        headers: { 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': expect.any(String), 'content-type': type }
      })
      expect(server.askedOf('upload')[0]!.query.get('sig')).toBe(`${CANARY}+signature`)
      const created = server.askedOf('create')[0]!
      expect(created.path).toMatch(new RegExp(`/jobs/${id}$`))
      expect(JSON.parse(created.text)).toEqual({
        id,
        name: 'a job- of the team',
        providerId: provider,
        target,
        itemType: 'Job',
        containerUri: expect.stringContaining(`/blobs/job-${id}?sv=`),
        inputDataUri: `${server.address}/blobs/job-${id}/inputData`,
        inputDataFormat,
        outputDataFormat,
        inputParams
      })
    }
  )

  test('creates nothing before it is asked to', async () => {
    await scene.azure.stage(at, jobOf(), signal)
    expect(server.askedOf('create')).toEqual([])
  })

  test.each<[number, ProviderFaultKind]>([
    [400, 'refused'],
    [403, 'unauthorized'],
    [404, 'not_found'],
    [409, 'unclear'],
    [429, 'busy'],
    [500, 'unclear'],
    [307, 'unclear']
  ])('that is answered with %i is %s', async (status, kind) => {
    const headers = { location: 'https://evil.example', 'retry-after': '7' }
    server.answer({ create: { status, headers, body: { error: { code: 'TheCode', message: 'In words.' } } } })
    await expect(submit()).rejects.toEqual(
      fault(kind, new RegExp(`^Azure Quantum returned ${status}: TheCode: In words`))
    )
    expect(server.askedOf('create')).toHaveLength(1)
  })

  const accepting = {
    create: ({ text }: { text: string }) => ({ status: 201, body: { ...JSON.parse(text), status: 'Waiting' } })
  }

  test('whose token was revoked is sent once, and again with a new token by the next try', async () => {
    const task = jobOf()
    server.answer({ create: { status: 401 } })
    await expect(submit(task)).rejects.toEqual(fault('busy', /401: the token was revoked/))
    expect(server.askedOf('create')).toHaveLength(1)
    const before = server.askedOf('token').length
    server.answer(accepting)
    await submit(task)
    expect(server.askedOf('token').length).toBeGreaterThan(before)
  })

  test('that is refused with a new token, too, is rejected, and one in between starts anew', async () => {
    const refused = { create: { status: 401 } }
    server.answer(refused)
    await expect(submit()).rejects.toEqual(fault('busy', /401: the token was revoked/))
    await expect(submit()).rejects.toEqual(fault('unauthorized', /401 for a new token, too/))
    await expect(submit()).rejects.toEqual(fault('busy', /401/))
    server.answer(accepting)
    await submit()
    server.answer(refused)
    await expect(submit()).rejects.toEqual(fault('busy', /401/))
  })

  test('with a key that the workspace does not accept is rejected', async () => {
    server.answer({ create: { status: 401 } })
    await expect(submit(jobOf(), { ...at, credentials: keyed })).rejects.toEqual(fault('unauthorized', /401/))
  })

  test.each<[string, string | object]>([
    ['another job', { id: ID }],
    ['no job', []],
    ['no JSON', '<html>']
  ])('that is answered with %s may have arrived', async (_what, body) => {
    server.answer({ create: { status: 200, body } })
    await expect(submit()).rejects.toEqual(fault('unclear', /Azure Quantum/))
  })

  test.each<[string, Parameters<typeof server.answer>[0], ProviderFaultKind, RegExp]>([
    [
      'storage elsewhere',
      { sas: { body: { sasUri: 'https://evil.example/c?sig=x' } } },
      'refused',
      /not one of Azure's/
    ],
    [
      'no storage',
      { sas: { body: { sasUri: { toString: 1 } } } },
      'unclear',
      /did not name the address of the storage/
    ],
    [
      'storage that takes nothing',
      { upload: { status: 403, body: '<Error><Code>AuthorizationFailure</Code><Message>No.\nAt:1</Message></Error>' } },
      'unauthorized',
      /^Azure Blob Storage returned 403: AuthorizationFailure: No\.$/
    ],
    ['an outage of storage', { upload: { status: 503 } }, 'unclear', /503/],
    ['a workspace that is gone', { sas: { status: 404, body: {} } }, 'not_found', /404/]
  ])('with %s creates nothing', async (_what, given, kind, message) => {
    server.answer(given)
    await expect(submit()).rejects.toEqual(fault(kind, message))
    expect(server.askedOf('create')).toEqual([])
  })
})

describe('looking for a submission', () => {
  test('finds the job under the id of its token', async () => {
    const { token } = jobOf()
    server.answer({ job: { body: { id: jobIdOf(token).toUpperCase() } } })
    expect(await scene.azure.find(at, { token, target: null }, since, signal)).toBe(jobIdOf(token))
    expect(server.askedOf('job')[0]!.path).toMatch(new RegExp(`/jobs/${jobIdOf(token)}$`))
  })

  test('finds nothing where the workspace is there and the job is not', async () => {
    expect(await scene.azure.find(at, jobOf(), since, signal)).toBeNull()
    expect(server.askedOf('status')).toHaveLength(1)
  })

  test('is not over while the workspace itself is not there', async () => {
    server.answer({ status: { status: 404, body: {} } })
    await expect(scene.azure.find(at, jobOf(), since, signal)).rejects.toEqual(fault('not_found', /404/))
  })

  test.each<[string, string | object]>([
    ['another job', { id: ID }],
    ['a list', []],
    ['no JSON', '<html>']
  ])('is not over after an answer with %s', async (_what, body) => {
    server.answer({ job: { body } })
    await expect(scene.azure.find(at, jobOf(), since, signal)).rejects.toEqual(fault('unclear', /Azure Quantum/))
  })
})

describe('a job', () => {
  const show = (job: object) => server.answer({ job: { body: { id: ID, ...job } } })

  test('is asked for under its id, also where the id is none', async () => {
    show({ status: 'Executing' })
    expect(await scene.azure.look(at, '../evil?x', signal)).toMatchObject({ status: 'running', raw: 'Executing' })
    expect(server.askedOf('job')[0]!.path).toMatch(/workspace-1\/jobs\/\.\.%2Fevil%3Fx$/i)
  })

  test.each([200, 204, 409])('is cancelled, and %i is an answer', async (status) => {
    server.answer({ cancel: { status } })
    await scene.azure.cancel(at, ID, signal)
    expect(server.askedOf('cancel')[0]).toMatchObject({ method: 'POST', headers: { 'content-length': '0' } })
    expect(server.askedOf('cancel')[0]!.path).toMatch(new RegExp(`/jobs/${ID}:cancel$`))
  })

  test('is followed by credentials of the same workspace alone', async () => {
    const other = { ...principal, workspace_name: 'other' }
    const located = { credentials: other, place: at.place }
    const told = fault(
      'unauthorized',
      /now of the workspace .*\/other; the job is in .*\/workspace-1: store credentials/
    )
    await expect(scene.azure.look(located, ID, signal)).rejects.toEqual(told)
    await expect(scene.azure.find(located, jobOf(), since, signal)).rejects.toEqual(told)
    await expect(scene.azure.counts(located, ID, jobOf(), signal)).rejects.toEqual(told)
    await expect(scene.azure.cancel(located, ID, signal)).rejects.toEqual(told)
    expect(server.asked).toEqual([])
    show({ status: 'Waiting' })
    const sameInCapitals = { ...keyed, resource_group: principal.resource_group!.toUpperCase() }
    expect(await scene.azure.look({ ...at, credentials: sameInCapitals }, ID, signal)).toMatchObject({
      status: 'queued'
    })
  })
})
