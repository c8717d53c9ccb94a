// The adapter of Azure Quantum against the emulated Azure, which reads programs, tokens and signatures by code of its own.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault, type ProviderFaultKind } from '../../../services/providers/adapter.js'
import { createAzure } from '../../../services/providers/azure/azure.js'
import { startAzure } from '../../emulators/azure/azure-client.js'
import { asymmetric, jobOf } from './azure-server.js'

const emulator = await startAzure()
const {
  AZURE_AUTHORITY_HOST: login,
  AZURE_RESOURCE_MANAGER_URL: manager,
  AZURE_QUANTUM_URL: quantum
} = emulator.variables
const adapter = () => createAzure({ login: login!, manager: manager!, quantum: quantum! })
let azure = adapter()
const credentials = emulator.described as unknown as Credentials
const { signal } = new AbortController()
beforeEach(async () => {
  emulator.control.reset()
  await azure.close()
  azure = adapter()
})
afterAll(async () => {
  await azure.close()
  await emulator.close()
})

const fault = (kind: ProviderFaultKind, message: RegExp | string) =>
  expect.objectContaining({ name: ProviderFault.name, kind, message: expect.stringMatching(message) })

const HOUR_MS = 3_600_000
const since = new Date()

const locate = async (own: Credentials = credentials) => ({
  credentials: own,
  place: await azure.place(own, 'ionq.simulator', signal)
})
const submit = async (task = jobOf(), own = credentials) => (await azure.stage(await locate(own), task, signal))(signal)
const named = async (id: string) =>
  (await emulator.keys()).find((one) => one.id === id)!.credentials as unknown as Credentials

describe('credentials', () => {
  test.each(['first-secret', 'first-key'])('of the workspace are taken: %s', async (id) => {
    expect(await azure.verify(await named(id), signal)).toEqual({
      account: '00000000-e000-4000-8000-000000000001/emulated-group/emulated-workspace',
      region: 'eastus',
      devices: expect.arrayContaining(['ionq.simulator', 'quantinuum.qpu.h2-1', 'rigetti.sim.qvm'])
    })
  })

  test.each<[string, () => Credentials | Promise<Credentials>, RegExp]>([
    ['a wrong secret', () => ({ ...credentials, client_secret: 'not~the.secret' }), /AADSTS7000215: the client_secret/],
    [
      'an unknown application',
      () => ({ ...credentials, client_id: '00000000-0000-0000-0000-000000000000' }),
      /AADSTS700016: the client_id/
    ],
    [
      'an unknown tenant',
      () => ({ ...credentials, tenant_id: '00000000-0000-0000-0000-000000000000' }),
      /AADSTS90002: the tenant_id/
    ],
    ['no role', () => named('no-role'), /returned 403: .* role/],
    [
      'a key of another workspace',
      async () => ({ ...(await named('first-key')), api_key: (await named('other-key')).api_key! }),
      /Azure Quantum returned 40[13]/
    ],
    [
      'an unknown workspace',
      () => ({ ...credentials, workspace_name: 'no-such-workspace' }),
      /Azure Resource Manager returned 40[34]/
    ]
  ])('with %s are rejected with the reason', async (_what, given, reason) => {
    await expect(azure.verify(await given(), signal)).rejects.toEqual(fault('unauthorized', reason))
  })

  test('whose secret is revoked are rejected, also with a token from before', async () => {
    await azure.verify(credentials, signal)
    await emulator.steer('POST', '/keys', { id: 'first-secret', active: false })
    await expect(azure.verify(credentials, signal)).rejects.toEqual(fault('unauthorized', /expired; store a new one/))
  })
})

describe('a job', () => {
  test.each([
    ['ionq.simulator', 'ionq', 'probability_derived'],
    ['ionq.qpu.forte-1', 'ionq', 'provider_counts'],
    ['quantinuum.qpu.h2-1', 'quantinuum', 'provider_measurements'],
    ['rigetti.sim.qvm', 'rigetti', 'provider_measurements']
  ] as const)('runs on %s, and its bits are canonical', async (target, form, source) => {
    const task = jobOf({ target, program: asymmetric[form] })
    const id = await submit(task)
    const at = await locate()
    expect(await azure.look(at, id, signal)).toMatchObject({ status: 'queued', cost: null })
    emulator.control.advance(180_000)
    expect(await azure.look(at, id, signal)).toMatchObject({ status: 'completed', raw: 'Succeeded' })
    const counts = await azure.counts(at, id, task, signal)
    expect(counts).toMatchObject({ counts: { '100': 20 }, source, executionTimeMs: expect.any(Number) })
    expect(counts.warnings).toBeUndefined()
  })

  test('on the syntax checker returns zeros, with a warning', async () => {
    const task = jobOf({ target: 'quantinuum.sim.h2-1sc' })
    const id = await submit(task)
    emulator.control.advance(180_000)
    expect(await azure.counts(await locate(), id, task, signal)).toMatchObject({
      counts: { '000': 20 },
      warnings: [expect.stringContaining('runs nothing')]
    })
  })

  test('is sent with a key as well', async () => {
    const key = await named('first-key')
    const task = jobOf()
    const id = await submit(task, key)
    emulator.control.advance(180_000)
    expect((await azure.counts(await locate(key), id, task, signal)).counts).toEqual({ '100': 20 })
  })

  test.each(['conflict', 'same'])('is one job, however often its request arrives: %s', async (repeated_put) => {
    await emulator.steer('POST', '/settings', { repeated_put })
    const task = jobOf()
    const id = await submit(task)
    const again = submit(task)
    if (repeated_put === 'same') expect(await again).toBe(id)
    else await expect(again).rejects.toEqual(fault('unclear', /^Azure Quantum returned 409/))
    expect(await azure.find(await locate(), task, since, signal)).toBe(id)
    expect(emulator.control.tasks()).toHaveLength(1)
  })

  test('is found by its token alone, from another process', async () => {
    const task = jobOf()
    const id = await submit(task)
    const other = adapter()
    expect(await other.find(await locate(), { token: task.token, target: null }, since, signal)).toBe(id)
    expect(await other.find(await locate(), jobOf(), since, signal)).toBeNull()
    await other.close()
  })

  test('with an unknown status is running', async () => {
    const id = await submit()
    emulator.control.fault({ kind: 'unknown_status' })
    expect(await azure.look(await locate(), id, signal)).toMatchObject({ status: 'running', raw: 'Recalibrating' })
  })

  test('that is cancelled in the queue costs nothing, and a second request changes nothing', async () => {
    const id = await submit()
    const at = await locate()
    await azure.cancel(at, id, signal)
    emulator.control.advance(60_000)
    expect(await azure.look(at, id, signal)).toMatchObject({ status: 'cancelled', cost: 0n })
    await azure.cancel(at, id, signal)
  })

  test('that fails names the reason, and costs nothing', async () => {
    const program = { ...asymmetric.quantinuum, text: 'OPENQASM 2.0;\nqreg q[3];\ncreg c[3];\nno_gate q[0];\n' }
    const id = await submit(jobOf({ program }))
    emulator.control.advance(180_000)
    expect(await azure.look(await locate(), id, signal)).toMatchObject({
      status: 'failed',
      cost: 0n,
      failure: expect.stringMatching(/^CompilationError: .*no_gate/)
    })
  })

  test('shows its cost once Azure knows it', async () => {
    await emulator.steer('POST', '/settings', { cost_ms: HOUR_MS })
    const id = await submit()
    const at = await locate()
    emulator.control.advance(180_000)
    expect(await azure.look(at, id, signal)).toMatchObject({ status: 'completed', cost: null, isUsagePending: true })
    emulator.control.advance(HOUR_MS)
    const view = await azure.look(at, id, signal)
    expect([view.cost, view.isUsagePending]).toEqual([500_000n, undefined])
  })
})

describe('while a job waits', () => {
  test('tokens and signatures expire, and new ones take their place', async () => {
    await emulator.steer('POST', '/settings', { sas_ms: 2 * 60_000 })
    emulator.control.timing({ queueMs: 72 * HOUR_MS })
    const task = jobOf()
    const id = await submit(task)
    const at = await locate()
    for (let day = 0; day < 3; day++) {
      expect(await azure.look(at, id, signal)).toMatchObject({ status: 'queued' })
      emulator.control.advance(24 * HOUR_MS)
    }
    emulator.control.advance(180_000)
    expect((await azure.counts(at, id, task, signal)).counts).toEqual({ '100': 20 })
  })

  test('a token that is refused is replaced, and the request repeated', async () => {
    const id = await submit()
    const at = await locate()
    emulator.control.fault({ kind: 'expire_tokens', match: { method: 'GET' } })
    expect(await azure.look(at, id, signal)).toMatchObject({ status: 'queued' })
  })

  test('a signature that storage refuses is replaced', async () => {
    const task = jobOf()
    const id = await submit(task)
    emulator.control.advance(180_000)
    emulator.control.fault({ kind: 'expire_tokens', match: { path: '/emulatedquantum/' } })
    expect((await azure.counts(await locate(), id, task, signal)).counts).toEqual({ '100': 20 })
  })

  test('a result that comes late is not there yet', async () => {
    emulator.control.timing({ resultLagMs: 60_000 })
    const task = jobOf()
    const id = await submit(task)
    const at = await locate()
    emulator.control.advance(121_000)
    await expect(azure.counts(at, id, task, signal)).rejects.toEqual(fault('not_found', /BlobNotFound/))
    emulator.control.advance(60_000)
    expect((await azure.counts(at, id, task, signal)).counts).toEqual({ '100': 20 })
  })

  test('another secret of the same workspace follows it, and another workspace is told both', async () => {
    const id = await submit()
    const { place } = await locate()
    await emulator.steer('POST', '/keys', { id: 'first-secret', active: false })
    await expect(azure.look({ credentials, place }, id, signal)).rejects.toEqual(fault('unauthorized', /client_secret/))
    expect(await azure.look({ credentials: await named('second-secret'), place }, id, signal)).toMatchObject({
      status: 'queued'
    })
    await expect(azure.look({ credentials: await named('other-secret'), place }, id, signal)).rejects.toEqual(
      fault('unauthorized', /other-workspace; the job is in .*emulated-workspace/)
    )
  })
})
