// Jobs and targets of the emulated workspace behave as Microsoft documents: what is accepted once, how a job proceeds, what it
// costs, and how each refusal is named.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { type Azure, errorOf, pathOf, startAzure, within } from './azure-client.js'

const h2 = 'quantinuum.qpu.h2-1'
let azure: Azure

beforeAll(async () => {
  azure = await startAzure()
})
beforeEach(() => azure.control.reset())
afterAll(() => azure.close())

const statusOf = async (id: string) => (await azure.job(id)).body.status
const cancel = (id: string) => azure.call('POST', `/jobs/${id}:cancel`)

describe('a job', () => {
  test('waits, runs and succeeds by the emulated clock', async () => {
    const { status, body } = await azure.submit({ changes: { metadata: { team: 'a' }, tags: ['one'] } })
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'a job',
        itemType: 'Job',
        jobType: 'QuantumComputing',
        providerId: 'quantinuum',
        target: h2,
        status: 'Queued',
        creationTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        createdBy: azure.described.client_id,
        createdByType: 'Application',
        containerUri: expect.stringContaining(`/job-${body.id}?`),
        inputDataUri: expect.stringContaining('/inputData?'),
        inputDataFormat: 'honeywell.openqasm.v1',
        inputParams: { shots: 10 },
        outputDataUri: expect.stringContaining('/outputData?'),
        outputDataFormat: 'honeywell.quantum-results.v1',
        metadata: { team: 'a' },
        priority: 'Standard',
        tags: ['one'],
        quantumComputingData: { count: 1 }
      }
    ])
    azure.control.advance(1_000)
    expect(await statusOf(body.id)).toBe('Waiting')
    azure.control.advance(60_000)
    expect(await statusOf(body.id)).toBe('Executing')
    expect(errorOf(await azure.fetched((await azure.job(body.id)).body.outputDataUri))).toEqual([404, 'BlobNotFound'])
    azure.control.advance(60_000)
    const ended = (await azure.job(body.id)).body
    expect(ended.status).toBe('Succeeded')
    expect(Date.parse(ended.beginExecutionTime) - Date.parse(ended.creationTime)).toBe(60_000)
    expect(Date.parse(ended.endExecutionTime) - Date.parse(ended.creationTime)).toBe(120_000)
    expect((await azure.fetched(ended.outputDataUri)).status).toBe(200)
  })

  test('has a cost in US dollars a while after its end', async () => {
    await azure.steer('POST', '/settings', { cost_ms: 30_000 })
    const id = await azure.accepted({ shots: 100 })
    azure.control.advance(120_000)
    expect((await azure.job(id)).body).toMatchObject({ status: 'Succeeded' })
    expect((await azure.job(id)).body.costEstimate).toBeUndefined()
    azure.control.advance(30_000)
    const { currencyCode, estimatedTotal, events } = (await azure.job(id)).body.costEstimate
    expect([currencyCode, estimatedTotal]).toEqual(['USD', 1.3])
    const sum = events.reduce(
      (total: number, { amountBilled, unitPrice }: { amountBilled: number; unitPrice: number }) =>
        total + amountBilled * unitPrice,
      0
    )
    expect(sum).toBeCloseTo(1.3, 9)
  })

  test.each(['quantinuum.sim.h2-1sc', 'ionq.simulator', 'rigetti.sim.qvm'])('of %s is free', async (target) => {
    const { record } = await azure.run({ target })
    expect(record.costEstimate).toEqual({ currencyCode: 'USD', events: [], estimatedTotal: 0 })
  })

  test('waits while its target is away, and starts when it is back', async () => {
    const id = await azure.accepted()
    azure.control.advance(2_000)
    azure.control.device(h2, 'OFFLINE')
    azure.control.advance(3 * 24 * 3_600_000)
    expect(await statusOf(id)).toBe('Waiting')
    azure.control.device(h2, 'Available')
    expect(await statusOf(id)).toBe('Executing')
    azure.control.advance(60_000)
    expect(await statusOf(id)).toBe('Succeeded')
  })

  test('fails when its target is retired while it waits, and costs nothing', async () => {
    const id = await azure.accepted()
    azure.control.device(h2, 'RETIRED')
    azure.control.advance(1_000)
    expect((await azure.job(id)).body).toMatchObject({
      status: 'Failed',
      errorData: { code: 'TargetUnavailable', message: `The target ${h2} was retired.` },
      costEstimate: { estimatedTotal: 0 }
    })
  })

  test('that is cancelled ends without a result and without a cost', async () => {
    const id = await azure.accepted()
    azure.control.advance(2_000)
    const { status, body } = await cancel(id)
    expect([status, body.id]).toEqual([200, id])
    expect(body.status).toMatch(/^Cancel(lationRequested|led)$/)
    azure.control.advance(200_000)
    const ended = (await azure.job(id)).body
    expect(ended).toMatchObject({ status: 'Cancelled', costEstimate: { estimatedTotal: 0 } })
    expect(ended.cancellationTime).toEqual(ended.endExecutionTime)
    expect(errorOf(await azure.fetched(ended.outputDataUri))).toEqual([404, 'BlobNotFound'])
  })

  test('that has ended cannot be cancelled, and only then be deleted', async () => {
    const id = await azure.accepted()
    expect(errorOf(await azure.call('DELETE', `/jobs/${id}`))).toEqual([409, 'Conflict'])
    azure.control.advance(120_000)
    const { outputDataUri } = (await azure.job(id)).body
    expect(errorOf(await cancel(id))).toEqual([409, 'Conflict'])
    expect((await azure.call('DELETE', `/jobs/${id}`)).status).toBe(204)
    expect(errorOf(await azure.job(id))).toEqual([404, 'JobNotFound'])
    expect((await azure.fetched(outputDataUri)).status).toBe(404)
    expect(azure.control.tasks()).toMatchObject([{ id, state: 'Succeeded' }])
  })

  test('exists only in its own workspace', async () => {
    const id = await azure.accepted()
    const other = (await azure.keys()).find((key) => key.id === 'other-secret')!.credentials
    expect(errorOf(await azure.job(id, { as: other }))).toEqual([404, 'JobNotFound'])
    expect((await azure.call('GET', '/jobs', undefined, { as: other })).body).toEqual({ value: [] })
  })

  test('is in the ledger with its id as its token', async () => {
    const id = await azure.accepted({ shots: 20, changes: { metadata: { run: 'r-1' } } })
    expect(azure.control.tasks()).toMatchObject([
      { id, token: id, device: h2, shots: 20, metadata: { run: 'r-1', name: 'a job' } }
    ])
  })
})

describe('a second PUT of a job', () => {
  test('is a conflict, and runs nothing', async () => {
    const id = randomUUID()
    const body = await azure.prepared(id)
    expect((await azure.put(id, body)).status).toBe(201)
    expect(errorOf(await azure.put(id, body))).toEqual([409, 'JobAlreadyExists'])
    expect(azure.control.tasks()).toHaveLength(1)
  })

  test('returns the job, if a test sets so', async () => {
    await azure.steer('POST', '/settings', { repeated_put: 'same' })
    const id = randomUUID()
    const body = await azure.prepared(id)
    await azure.put(id, body)
    const again = await azure.put(id.toUpperCase(), { ...body, id: undefined })
    expect([again.status, again.body.id]).toEqual([200, id])
    expect(azure.control.tasks()).toHaveLength(1)
  })
})

describe('Azure refuses a job', () => {
  test.each<[string, Record<string, unknown>, string, string]>([
    ['of an unknown target', { target: 'quantinuum.qpu.h9-1' }, 'InvalidTarget', 'does not exist'],
    ['of a target of another provider', { providerId: 'ionq' }, 'InvalidTarget', 'does not exist'],
    ['without a container', { containerUri: undefined }, 'InvalidJobDefinition', 'containerUri'],
    ['without a name', { name: undefined }, 'InvalidJobDefinition', 'name'],
    ['with a field that nobody knows', { shots: 10 }, 'InvalidJobDefinition', 'shots'],
    ['with another id than that of the path', { id: randomUUID() }, 'InvalidJobDefinition', 'that of the path'],
    ['in a session', { sessionId: randomUUID() }, 'InvalidJobDefinition', 'sessionId'],
    [
      'whose container is not in the storage',
      { containerUri: 'https://elsewhere.example/c?sig=a' },
      'InvalidJobDefinition',
      "the workspace's storage"
    ],
    ['whose metadata is no text', { metadata: { a: 1 } }, 'InvalidJobDefinition', 'metadata']
  ])('%s', async (_name, changes, code, words) => {
    const answer = await azure.submit({ changes })
    expect([...errorOf(answer), answer.body.error.message]).toEqual([400, code, expect.stringContaining(words)])
    expect(azure.control.tasks()).toEqual([])
  })

  test('whose id is no GUID, and whose body is no object', async () => {
    expect(errorOf(await azure.put('job-1', await azure.prepared(randomUUID())))).toEqual([400, 'InvalidJobDefinition'])
    expect(errorOf(await azure.put(randomUUID(), '{'))).toEqual([400, 'BadRequest'])
    expect(errorOf(await azure.put(randomUUID(), []))).toEqual([400, 'BadRequest'])
  })

  test('of a retired target', async () => {
    azure.control.device(h2, 'Retired')
    expect(errorOf(await azure.submit())).toEqual([400, 'InvalidTarget'])
  })

  test("whose container's signature has expired", async () => {
    const id = randomUUID()
    const body = await azure.prepared(id)
    azure.control.advance(25 * 3_600_000)
    const answer = await azure.put(id, body)
    expect([...errorOf(answer), answer.body.error.message]).toEqual([
      400,
      'InvalidJobDefinition',
      expect.stringContaining('not valid in the specified time frame')
    ])
  })
})

describe('a job fails', () => {
  const failure = async (parts: Parameters<Azure['run']>[0]) => {
    const { record, result } = await azure.run(parts)
    expect([record.status, result]).toEqual(['Failed', null])
    return record.errorData
  }

  test('whose input was not uploaded before', async () => {
    const id = randomUUID()
    const containerUri = await azure.sasUri(`job-${id}`)
    const body = { ...(await azure.prepared(randomUUID())), id, containerUri, inputDataUri: undefined }
    expect((await azure.put(id, body)).status).toBe(201)
    await azure.upload(containerUri, 'inputData', 'too late')
    azure.control.advance(1_000)
    expect((await azure.job(id)).body).toMatchObject({ status: 'Failed', errorData: { code: 'InvalidInputData' } })
  })

  test('whose input lies in another container', async () => {
    const elsewhere = await azure.sasUri('another-container')
    await azure.upload(elsewhere, 'inputData', 'OPENQASM 2.0;')
    expect(await failure({ changes: { inputDataUri: within(elsewhere, 'inputData') } })).toMatchObject({
      code: 'InvalidInputData'
    })
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['without shots', { inputParams: {} }, 'inputParams.shots'],
    ['with too many shots', { inputParams: { shots: 10_001 } }, 'from 1 to 10000'],
    ['with a parameter that is not known here', { inputParams: { shots: 1, noise: 'x' } }, 'inputParams.noise'],
    ['with a format of another provider', { inputDataFormat: 'rigetti.quil.v1' }, 'honeywell.openqasm.v1'],
    ['with QIR', { inputDataFormat: 'qir.v1', outputDataFormat: 'microsoft.quantum-results.v2' }, 'qir.v1']
  ])('%s', async (_what, changes, words) => {
    expect(await failure({ changes })).toEqual({ code: 'InvalidInputData', message: expect.stringContaining(words) })
  })
})

describe('the list of jobs', () => {
  const list = async (query = '') => (await azure.call('GET', `/jobs${query}`)).body
  const ids = (page: { value: { id: string }[] }) => page.value.map(({ id }) => id)
  const filtered = async (filter: string) => ids(await list(`?filter=${encodeURIComponent(filter)}&top=100`))

  test('has pages that are asked for one after the other, newest first', async () => {
    const made: string[] = []
    for (let index = 0; index < 25; index++) made.unshift(await azure.accepted())
    const found: string[] = []
    let page = await list()
    for (;;) {
      expect(page.value.length).toBeLessThanOrEqual(10)
      found.push(...ids(page))
      if (!page.nextLink) break
      page = (await azure.call('GET', page.nextLink)).body
    }
    expect(found).toEqual(made)
    expect(ids(await list('?top=3&skip=4'))).toEqual(made.slice(4, 7))
    expect(ids(await list('?top=100&orderby=CreationTime%20asc'))).toEqual([...made].reverse())
  })

  test('is filtered by name, target, state and time', async () => {
    const old = await azure.accepted({ changes: { name: 'qjs-one' } })
    azure.control.advance(180_000)
    const recent = await azure.accepted({ target: 'ionq.simulator', changes: { name: "qjs-two's" } })
    const { creationTime } = (await azure.job(recent)).body
    expect(await filtered("Name eq 'qjs-one'")).toEqual([old])
    expect(await filtered("Name eq 'qjs-two''s'")).toEqual([recent])
    expect(await filtered("startswith(Name, 'qjs-')")).toEqual([recent, old])
    expect(await filtered("startswith(Name, 'qjs-') and (Target eq 'ionq.simulator')")).toEqual([recent])
    expect(await filtered("(State eq 'Succeeded' or State eq 'Failed')")).toEqual([old])
    expect(await filtered("ProviderId eq 'quantinuum'")).toEqual([old])
    expect(await filtered(`CreationTime ge ${creationTime}`)).toEqual([recent])
    expect(await filtered(`CreationTime lt ${creationTime}`)).toEqual([old])
  })

  test.each([
    ["Shots eq '1'", 'must name one of'],
    ["Name ne 'a'", 'takes only eq'],
    ['Name eq a', 'single quotes'],
    ["(Name eq 'a'", 'lacks a )'],
    ["Name eq 'a' Name eq 'b'", 'does not read'],
    ['CreationTime ge yesterday', 'compared with a time']
  ])('refuses the filter %s', async (filter, words) => {
    const answer = await azure.call('GET', `/jobs?filter=${encodeURIComponent(filter)}`)
    expect([...errorOf(answer), answer.body.error.message]).toEqual([
      400,
      'InvalidQueryParameter',
      expect.stringContaining(words)
    ])
  })

  test.each(['top=0', 'top=101', 'skip=-1', 'top=many', 'orderby=Shots'])('refuses %s', async (query) => {
    expect(errorOf(await azure.call('GET', `/jobs?${query}`))).toEqual([400, 'InvalidQueryParameter'])
  })
})

describe('targets', () => {
  const listed = async () => (await azure.call('GET', '/providerStatus')).body.value
  const targetOf = async (id: string) =>
    (await listed())
      .flatMap(({ targets }: { targets: { id: string }[] }) => targets)
      .find((target: { id: string }) => target.id === id)

  test('are those of three providers, with their sizes and the time in the queue', async () => {
    const value = await listed()
    expect(
      value.map(({ id, targets }: { id: string; targets: { id: string; numQubits: number }[] }) => [
        id,
        Object.fromEntries(targets.map((target) => [target.id, target.numQubits]))
      ])
    ).toEqual([
      ['ionq', { 'ionq.simulator': 29, 'ionq.qpu.forte-1': 36 }],
      ['quantinuum', { [h2]: 56, 'quantinuum.sim.h2-1sc': 56, 'quantinuum.sim.h2-1e': 56 }],
      ['rigetti', { 'rigetti.sim.qvm': 20 }]
    ])
    expect(await targetOf(h2)).toMatchObject({ currentAvailability: 'Available', averageQueueTime: 60 })
  })

  test('tell their availability, and vanish when they are retired', async () => {
    for (const word of ['Degraded', 'Unavailable', 'Available']) {
      await azure.steer('POST', '/devices', { device: h2, status: word })
      expect((await targetOf(h2)).currentAvailability).toBe(word)
    }
    azure.control.device(h2, 'offline')
    expect((await targetOf(h2)).currentAvailability).toBe('Unavailable')
    azure.control.device('rigetti.sim.qvm', 'offline')
    expect((await listed()).find(({ id }: { id: string }) => id === 'rigetti').currentAvailability).toBe('Unavailable')
    azure.control.device(h2, 'RETIRED')
    expect(await targetOf(h2)).toBeUndefined()
    for (const [device, status] of [
      ['quantinuum.qpu.h9-1', 'offline'],
      [h2, 'asleep']
    ])
      expect((await azure.steer('POST', '/devices', { device, status })).status).toBe(400)
  })

  test('have quotas', async () => {
    expect((await azure.call('GET', '/quotas')).body.value).toEqual([
      expect.objectContaining({ providerId: 'quantinuum', dimension: 'hqc', limit: 800 })
    ])
  })
})

describe('a fault', () => {
  const jobs = () => `${pathOf(azure.described)}/jobs`
  const creating = () => ({ method: 'PUT', path: jobs() })

  test.each([
    [401, 'Unauthorized'],
    [403, 'AuthorizationFailed'],
    [409, 'Conflict'],
    [429, 'TooManyRequests'],
    [503, 'ServiceUnavailable']
  ])('of status %i has the words of the workspace', async (status, code) => {
    const id = randomUUID()
    const body = await azure.prepared(id)
    await azure.steer('POST', '/faults', { match: creating(), kind: 'status', status, retry_after: 3 })
    const answer = await azure.put(id, body)
    expect([...errorOf(answer), answer.headers.get('retry-after')]).toEqual([status, code, '3'])
    expect(azure.control.tasks()).toEqual([])
  })

  test('after the work leaves a job that its id finds', async () => {
    const id = randomUUID()
    const body = await azure.prepared(id)
    await azure.steer('POST', '/faults', { match: creating(), kind: 'drop_after' })
    await expect(azure.put(id, body)).rejects.toThrow('fetch failed')
    expect((await azure.job(id)).body.id).toBe(id)
  })

  test('"accept_late" accepts a job after its connection is closed', async () => {
    const id = randomUUID()
    const body = await azure.prepared(id)
    await azure.steer('POST', '/faults', { match: creating(), kind: 'accept_late', lag_ms: 50 })
    await expect(azure.put(id, body)).rejects.toThrow('fetch failed')
    await eventually(async () => ((await azure.job(id)).status === 200 ? true : null))
  })

  test('"unknown_status" gives every job a status that no client knows', async () => {
    const id = await azure.accepted()
    await azure.steer('POST', '/faults', { match: { path: jobs() }, kind: 'unknown_status', times: 2 })
    expect(await statusOf(id)).toBe('Recalibrating')
    expect((await azure.call('GET', '/jobs')).body.value[0].status).toBe('Recalibrating')
    expect(await statusOf(id)).toMatch(/^(Queued|Waiting)$/)
  })

  test('"result_lag" makes a result seem missing', async () => {
    const id = await azure.accepted()
    azure.control.advance(120_000)
    const { outputDataUri } = (await azure.job(id)).body
    await azure.steer('POST', '/faults', { kind: 'result_lag' })
    expect(await statusOf(id)).toBe('Succeeded')
    expect(errorOf(await azure.fetched(outputDataUri))).toEqual([404, 'BlobNotFound'])
    expect((await azure.fetched(outputDataUri)).status).toBe(200)
  })

  test('has the words of each service', async () => {
    const { tenant_id } = azure.described
    await azure.steer('POST', '/faults', { match: { path: `/${tenant_id}` }, kind: 'status', status: 503 })
    expect(errorOf(await azure.token('https://quantum.microsoft.com/.default'))).toEqual([503, 'server_error'])
    const container = await azure.sasUri('a-container')
    await azure.steer('POST', '/faults', { match: { path: '/emulatedquantum' }, kind: 'status', status: 503 })
    const answer = await azure.upload(container, 'a', 'content')
    expect([...errorOf(answer), answer.headers.get('content-type')]).toEqual([503, 'ServerBusy', 'application/xml'])
  })
})

test('the result of a finished job appears when its lag has passed', async () => {
  await azure.steer('POST', '/timing', { result_lag_ms: 30_000 })
  const id = await azure.accepted()
  azure.control.advance(120_000)
  const { status, outputDataUri } = (await azure.job(id)).body
  expect([status, (await azure.fetched(outputDataUri)).status]).toEqual(['Succeeded', 404])
  azure.control.advance(30_000)
  expect((await azure.fetched(outputDataUri)).status).toBe(200)
})
