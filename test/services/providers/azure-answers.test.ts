// The results that a job of Azure Quantum names, and what no message may repeat.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault, type ProviderFaultKind } from '../../../services/providers/adapter.js'
import { at, fault, ID, signal, startAzureScene } from './azure-scene.js'
import { CANARY, jobOf, keyed, principal, repeating, type Service } from './azure-server.js'

const scene = await startAzureScene()
const { server } = scene
beforeEach(() => scene.reset())
afterAll(() => scene.close())

const { submit } = scene

describe('results', () => {
  const task = jobOf({ shots: 2 })
  const blobPath = `job-${ID}/outputs/rawOutputData`
  const show = (job: object = {}) =>
    server.answer({
      job: {
        body: {
          id: ID,
          target: 'quantinuum.qpu.h2-1',
          status: 'Succeeded',
          outputDataFormat: 'honeywell.quantum-results.v1',
          outputDataUri: server.signed(blobPath),
          beginExecutionTime: '2026-07-01T10:00:00.000Z',
          endExecutionTime: '2026-07-01T10:00:01.500Z',
          ...job
        }
      }
    })
  const counts = (credentials: Credentials = principal) => scene.azure.counts({ ...at, credentials }, ID, task, signal)
  const whole = { status: 206, body: { c: ['001', '011'] } }

  test('are read at the address that the job names', async () => {
    show()
    server.answer({ blob: whole })
    expect(await counts()).toEqual({
      counts: { '100': 1, '110': 1 },
      source: 'provider_measurements',
      probabilities: null,
      executionTimeMs: 1500,
      calibrationId: null
    })
    expect(server.askedOf('sas')).toEqual([])
    expect(server.askedOf('blob')[0]).toMatchObject({
      path: `/blobs/${blobPath}`,
      headers: { range: expect.stringMatching(/^bytes=0-\d+$/), 'x-ms-version': expect.any(String) }
    })
    expect(server.askedOf('blob')[0]!.headers.authorization).toBeUndefined()
  })

  test.each([
    ['has no signature', () => `${server.address}/blobs/${blobPath}`],
    ['has a signature for four minutes', () => server.signed(blobPath, 4 * 60_000)],
    ['has an expired signature', () => server.signed(blobPath, -1)]
  ])('are read with a new signature where the address %s', async (_what, outputDataUri) => {
    show({ outputDataUri: outputDataUri() })
    server.answer({ blob: whole })
    expect((await counts()).counts).toEqual({ '100': 1, '110': 1 })
    expect(server.askedOf('sas').map(({ text }) => JSON.parse(text))).toEqual([
      { containerName: `job-${ID}`, blobName: 'outputs/rawOutputData' }
    ])
    expect(server.askedOf('blob')).toHaveLength(1)
  })

  test('are read with a new signature where storage refuses the first', async () => {
    show()
    let reads = 0
    server.answer({ blob: () => (++reads === 1 ? { status: 403 } : whole) })
    expect((await counts()).counts).toEqual({ '100': 1, '110': 1 })
    expect(server.askedOf('sas')).toHaveLength(1)
  })

  test('are read with a key as well', async () => {
    show({ outputDataUri: `${server.address}/blobs/${blobPath}` })
    server.answer({ blob: whole })
    expect((await counts(keyed)).counts).toEqual({ '100': 1, '110': 1 })
  })

  test('that storage refuses are not there yet for ten minutes, and then lack a permission', async () => {
    const ended = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString()
    server.answer({ blob: { status: 403, headers: { 'x-ms-error-code': 'AuthorizationFailure' } } })
    show({ endExecutionTime: ended(9) })
    await expect(counts()).rejects.toEqual(fault('not_found', /AuthorizationFailure: the result is not there yet/))
    show({ endExecutionTime: undefined })
    await expect(counts()).rejects.toEqual(fault('not_found', /not there yet/))
    show({ endExecutionTime: ended(11) })
    await expect(counts()).rejects.toEqual(
      fault('unauthorized', /cannot be read: .*AuthorizationFailure.*storage account/)
    )
  })

  test.each<[string, object, number | null, ProviderFaultKind, RegExp]>([
    ['are missing', {}, 404, 'not_found', /404/],
    ['are empty', {}, 416, 'not_found', /416/],
    ['cannot be fetched', {}, 400, 'unauthorized', /cannot be read/],
    ['meet an outage', {}, 503, 'unclear', /503/],
    ['meet too many requests', {}, 429, 'busy', /429/],
    ['have no address', { outputDataUri: null }, null, 'not_found', /where the result is/],
    [
      'are elsewhere',
      { outputDataUri: 'https://evil.example/job/outputData?sig=x' },
      null,
      'refused',
      /not one of Azure's/
    ],
    ['are nowhere', { outputDataUri: 'no address' }, null, 'unclear', /did not name the address/],
    [
      'are of an unknown form',
      { outputDataFormat: 'microsoft.quantum-results.v2' },
      null,
      'refused',
      /unknown form micro/
    ],
    ['are of no form', { outputDataFormat: { toString: 1 } }, null, 'refused', /unknown form/]
  ])('that %s are a fault', async (_what, job, status, kind, message) => {
    show(job)
    if (status !== null) server.answer({ blob: { status } })
    await expect(counts()).rejects.toEqual(fault(kind, message))
    expect(server.askedOf('blob').length).toBe(status === null ? 0 : 1)
  })

  test.each(['', '/', '/only-a-container', '/container/', '/container/a//b'])(
    'at the address %p, which is that of no file, are refused',
    async (path) => {
      show({ outputDataUri: `${server.address}${path}` })
      await expect(counts()).rejects.toEqual(fault('refused', /cannot be one/))
      expect(server.askedOf('blob')).toEqual([])
    }
  )

  test.each<[string, object]>([
    ['as they say', { headers: { 'content-range': 'bytes 0-9/999999999' }, status: 206, body: '0123456789' }],
    ['as they are', { body: ' '.repeat(2 * 1024 * 1024) }]
  ])('that are far too long, %s, are refused', async (_what, blob) => {
    show()
    server.answer({ blob })
    await expect(counts()).rejects.toEqual(fault('refused', /longer than \d+ bytes/))
  })

  test('that are no results are refused without their text', async () => {
    show()
    server.answer({ blob: { body: `${CANARY}<html>` } })
    const error = await counts().catch((one: ProviderFault) => one)
    expect(error).toEqual(fault('refused', /not a JSON object/))
    expect(String(error)).not.toContain(CANARY)
  })
})

describe('no secret, token or signature', () => {
  const ended = () => ({
    id: ID,
    target: 'quantinuum.qpu.h2-1',
    status: 'Succeeded',
    outputDataFormat: 'honeywell.quantum-results.v1',
    outputDataUri: server.signed(`job-${ID}/outputData`),
    endExecutionTime: '2026-07-01T10:00:00Z'
  })
  const calls: [Service, () => Promise<unknown>][] = [
    ['token', () => scene.azure.verify(principal, signal)],
    ['manager', () => scene.azure.verify(principal, signal)],
    ['status', () => scene.azure.verify(principal, signal)],
    ['status', () => scene.azure.verify(keyed, signal)],
    ['status', () => scene.azure.describe(principal, { target: 'ionq.simulator', width: null }, signal)],
    ['sas', () => submit()],
    ['upload', () => submit()],
    ['create', () => submit()],
    ['create', () => submit(jobOf(), { ...at, credentials: keyed })],
    ['job', () => scene.azure.look(at, ID, signal)],
    ['job', () => scene.azure.look({ ...at, credentials: keyed }, ID, signal)],
    ['cancel', () => scene.azure.cancel(at, ID, signal)],
    ['blob', () => scene.azure.counts(at, ID, jobOf(), signal)]
  ]

  test.each(calls)('is in the message of a refusal by the service %s', async (service, call) => {
    for (const status of [400, 401, 403, 404, 416, 429, 500]) {
      server.reset()
      server.answer({ job: { body: ended() } })
      server.answer({ [service]: repeating(status) })
      const error = await call().catch((one: unknown) => one)
      expect([status, error]).toEqual([status, expect.any(ProviderFault)])
      expect([status, (error as Error).message]).toEqual([status, expect.not.stringContaining(CANARY)])
    }
  })

  test('is in what a failed job says, or in a place', async () => {
    const message = `the input ${server.signed('job/inputData')} cannot be read`
    server.answer({ job: { body: { id: ID, status: 'Failed', errorData: { code: 'InvalidInputData', message } } } })
    const view = await scene.azure.look(at, ID, signal)
    expect(view.failure).toMatch(/^InvalidInputData: the input .* cannot be read$/)
    const place = await scene.azure.place(principal, 'ionq.simulator', signal)
    expect(JSON.stringify([view.failure, place])).not.toContain(CANARY)
  })
})
