// Tasks and devices of the emulated Braket behave as AWS documents: what is accepted once, how a task proceeds, and how each
// refusal is named.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  aquila,
  type Braket,
  bucket,
  cepheus,
  errorOf,
  forte,
  garnet,
  gateAction,
  startBraket,
  sv1
} from './braket-client.js'

let braket: Braket

beforeAll(async () => {
  braket = await startBraket()
})
beforeEach(() => braket.control.reset())
afterAll(() => braket.close())

const refused = async (changes: Record<string, unknown>, signing = {}) => {
  const answer = await braket.submit(changes, signing)
  return [...errorOf(answer), answer.body?.message]
}
const stateOf = async (arn: string) => (await braket.task(arn)).body.status
const cancel = (arn: string, body: unknown = { clientToken: 'c' }) =>
  braket.call('PUT', `/quantum-task/${encodeURIComponent(arn)}/cancel`, body)

describe('a clientToken', () => {
  test('makes one task, however often the same body is sent', async () => {
    const body = { clientToken: 'once', tags: { a: '1', b: '2' } }
    const first = await braket.accepted(body)
    expect(await braket.accepted({ tags: { b: '2', a: '1' }, clientToken: 'once' })).toBe(first)
    expect(braket.control.tasks()).toMatchObject([{ id: first, token: 'once', metadata: { a: '1' } }])
  })

  test('still returns its task when the device is gone', async () => {
    const first = await braket.accepted({ clientToken: 'once', deviceArn: forte })
    braket.control.device(forte, 'OFFLINE')
    expect(await braket.accepted({ clientToken: 'once', deviceArn: forte })).toBe(first)
  })

  test('is refused with another body', async () => {
    await braket.accepted({ clientToken: 'once' })
    expect(await refused({ clientToken: 'once', shots: 11 })).toEqual([
      400,
      'ValidationException',
      'The clientToken was used before with other parameters.'
    ])
    expect(braket.control.tasks()).toHaveLength(1)
  })

  test('belongs to a region', async () => {
    const first = await braket.accepted({ clientToken: 'once' })
    expect(await braket.accepted({ clientToken: 'once' }, { region: 'eu-north-1' })).not.toBe(first)
  })
})

describe('a task', () => {
  test('waits, runs and completes by the emulated clock', async () => {
    const arn = await braket.accepted({ tags: { team: 'a' }, outputS3KeyPrefix: 'some/prefix' })
    expect(arn).toMatch(/^arn:aws:braket:us-east-1:123456789012:quantum-task\/[0-9a-f-]{36}$/)
    const { body } = await braket.task(arn)
    expect(body).toEqual({
      quantumTaskArn: arn,
      status: expect.stringMatching(/^(CREATED|QUEUED)$/),
      deviceArn: sv1,
      deviceParameters: '{}',
      shots: 10,
      outputS3Bucket: bucket,
      outputS3Directory: `some/prefix/${arn.split('/')[1]}`,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      tags: { team: 'a' }
    })
    braket.control.advance(1_000)
    expect(await stateOf(arn)).toBe('QUEUED')
    braket.control.advance(60_000)
    expect(await stateOf(arn)).toBe('RUNNING')
    expect(errorOf(await braket.result(body))).toEqual([404, 'NoSuchKey'])
    braket.control.advance(60_000)
    const { status, createdAt, endedAt } = (await braket.task(arn)).body
    expect([status, Date.parse(endedAt) - Date.parse(createdAt)]).toEqual(['COMPLETED', 120_000])
    expect((await braket.result(body)).status).toBe(200)
  })

  test('tells its place in the queue as a text', async () => {
    const positionOf = async (arn: string) =>
      (await braket.call('GET', `/quantum-task/${encodeURIComponent(arn)}?additionalAttributeNames=QueueInfo`)).body
        .queueInfo
    const first = await braket.accepted({ deviceArn: forte })
    expect(await positionOf(first)).toEqual({
      queue: 'QUANTUM_TASKS_QUEUE',
      position: '1',
      queuePriority: 'Normal'
    })
    await braket.steer('POST', '/settings', { queue_depth: 5000 })
    expect((await positionOf(await braket.accepted({ deviceArn: forte }))).position).toBe('>2000')
    const { deviceQueueInfo } = (await braket.call('GET', `/device/${encodeURIComponent(forte)}`)).body
    expect(deviceQueueInfo[0].queueSize).toBe('>2000')
    braket.control.advance(120_000)
    expect((await positionOf(first)).position).toBe('None')
  })

  test('waits while its device is offline, and starts when it is back', async () => {
    const arn = await braket.accepted({ deviceArn: forte })
    braket.control.advance(2_000)
    braket.control.device(forte, 'OFFLINE')
    braket.control.advance(3 * 24 * 3_600_000)
    expect(await stateOf(arn)).toBe('QUEUED')
    braket.control.device('Forte 1', 'online')
    expect(await stateOf(arn)).toBe('RUNNING')
    braket.control.advance(60_000)
    expect(await stateOf(arn)).toBe('COMPLETED')
    expect((await braket.result((await braket.task(arn)).body)).status).toBe(200)
  })

  test('that has begun ends although its device goes offline', async () => {
    const arn = await braket.accepted({ deviceArn: forte })
    braket.control.advance(61_000)
    braket.control.device(forte, 'OFFLINE')
    braket.control.advance(60_000)
    expect(await stateOf(arn)).toBe('COMPLETED')
  })

  test('fails when its device is retired while it waits', async () => {
    const arn = await braket.accepted({ deviceArn: forte })
    braket.control.device(forte, 'RETIRED')
    const { status, failureReason, endedAt } = (await braket.task(arn)).body
    expect([status, failureReason, typeof endedAt]).toEqual(['FAILED', 'The device was retired.', 'string'])
  })

  test('that is cancelled ends without a result', async () => {
    const arn = await braket.accepted()
    expect((await cancel(arn)).body).toEqual({
      quantumTaskArn: arn,
      cancellationStatus: expect.stringMatching(/^CANCELL(ING|ED)$/)
    })
    braket.control.advance(200_000)
    expect(await stateOf(arn)).toBe('CANCELLED')
    expect(errorOf(await braket.result((await braket.task(arn)).body))).toEqual([404, 'NoSuchKey'])
  })

  test('that has ended cannot be cancelled', async () => {
    const arn = await braket.accepted()
    braket.control.advance(120_000)
    expect(errorOf(await cancel(arn))).toEqual([409, 'ConflictException'])
    expect(errorOf(await cancel(arn, {}))).toEqual([400, 'ValidationException'])
  })

  test('exists only in its own region', async () => {
    const arn = await braket.accepted()
    expect(errorOf(await braket.task(arn, { region: 'eu-north-1' }))).toEqual([404, 'ResourceNotFoundException'])
    expect(errorOf(await braket.task(arn.replace(/[0-9a-f]{12}$/, '000000000000')))).toEqual([
      404,
      'ResourceNotFoundException'
    ])
  })
})

describe('Braket refuses a task', () => {
  const bell = gateAction('OPENQASM 3.0; qubit[2] q; h q[0]; cnot q[0], q[1];')
  test.each<[string, Record<string, unknown>, number, string, string]>([
    ['of an unknown device', { deviceArn: `${sv1}x` }, 404, 'ResourceNotFoundException', 'does not exist'],
    [
      'of a device in another region',
      { deviceArn: garnet },
      400,
      'ValidationException',
      'not available in region us-east-1'
    ],
    ['of a retired device', { deviceArn: sv1.replace('sv1', 'tn1') }, 410, 'DeviceRetiredException', 'is retired'],
    ['of too many shots', { deviceArn: forte, shots: 5001 }, 400, 'ValidationException', 'from 1 to 5000'],
    ['without shots', { shots: 0 }, 400, 'ValidationException', 'result types'],
    ['without a prefix', { outputS3KeyPrefix: undefined }, 400, 'ValidationException', 'outputS3KeyPrefix'],
    ['with a field that nobody knows', { shot: 1 }, 400, 'ValidationException', 'shot'],
    ['with a long token', { clientToken: 'x'.repeat(65) }, 400, 'ValidationException', 'clientToken'],
    ['for an unknown bucket', { outputS3Bucket: 'no-such-bucket' }, 400, 'ValidationException', 'does not exist'],
    [
      'for a bucket of another region',
      { outputS3Bucket: `${bucket}-eu-north-1` },
      400,
      'ValidationException',
      'is in region eu-north-1'
    ],
    [
      'for a bucket of another account',
      { outputS3Bucket: `${bucket}-other` },
      403,
      'AccessDeniedException',
      'does not have access'
    ],
    ['whose action is no JSON', { action: 'OPENQASM 3;' }, 400, 'ValidationException', 'not valid JSON'],
    [
      'of gates on an analog device',
      { deviceArn: aquila, action: bell },
      400,
      'ValidationException',
      'braket.ir.ahs.program'
    ],
    [
      'that is too wide',
      { action: gateAction('OPENQASM 3.0; qubit[35] q; h q[0];') },
      400,
      'ValidationException',
      'Qubit count 35 exceeds the 34'
    ],
    [
      'with a gate that the device does not have',
      { deviceArn: forte, action: gateAction('OPENQASM 3.0;\nqubit[2] q;\niswap q[0], q[1];') },
      400,
      'ValidationException',
      'line 3: unknown gate iswap'
    ],
    [
      'with two registers of a device that takes one',
      { deviceArn: forte, action: gateAction('OPENQASM 3.0; qubit a; qubit b; cnot a, b;') },
      400,
      'ValidationException',
      'one qubit register'
    ]
  ])('%s', async (_name, changes, status, code, words) => {
    expect(await refused(changes)).toEqual([status, code, expect.stringContaining(words)])
    expect(braket.control.tasks()).toEqual([])
  })

  test('of a device that is offline', async () => {
    braket.control.device(forte, 'OFFLINE')
    expect((await refused({ deviceArn: forte })).slice(0, 2)).toEqual([424, 'DeviceOfflineException'])
  })
})

describe('devices', () => {
  const names = async (region: string) =>
    (await braket.call('POST', '/devices', { filters: [] }, { region })).body.devices.map(
      ({ deviceName }: { deviceName: string }) => deviceName
    )

  test('are those of the region, and the simulators everywhere', async () => {
    expect(await names('us-east-1')).toEqual(['SV1', 'dm1', 'TN1', 'Forte 1', 'Aquila'])
    expect(await names('eu-north-1')).toEqual(['SV1', 'dm1', 'TN1', 'Garnet'])
    expect(await names('us-west-1')).toEqual(['SV1', 'dm1', 'TN1', 'Ankaa-3', 'Cepheus-1-108Q'])
    expect(errorOf(await braket.call('GET', `/device/${encodeURIComponent(garnet)}`))).toEqual([
      404,
      'ResourceNotFoundException'
    ])
    const one = { filters: [{ name: 'deviceArn', values: [forte] }] }
    expect((await braket.call('POST', '/devices', one)).body.devices).toEqual([
      { deviceArn: forte, deviceName: 'Forte 1', providerName: 'IonQ', deviceType: 'QPU', deviceStatus: 'ONLINE' }
    ])
  })

  test('tell their status and capabilities', async () => {
    braket.control.device(cepheus, 'offline')
    const { body } = await braket.call('GET', `/device/${encodeURIComponent(cepheus)}`, undefined, {
      region: 'us-west-1'
    })
    expect([body.deviceStatus, body.deviceQueueInfo.map(({ queue }: { queue: string }) => queue)]).toEqual([
      'OFFLINE',
      ['QUANTUM_TASKS_QUEUE', 'QUANTUM_TASKS_QUEUE', 'JOBS_QUEUE']
    ])
    const { action, paradigm, service } = JSON.parse(body.deviceCapabilities)
    expect(action['braket.ir.openqasm.program']).toMatchObject({
      requiresAllQubitsMeasurement: true,
      maximumQubitArrays: 1,
      supportedOperations: expect.arrayContaining(['cnot', 'rz'])
    })
    expect([paradigm.qubitCount, paradigm.connectivity.connectivityGraph['0'], service.shotsRange]).toEqual([
      108,
      ['1', '12'],
      [1, 50_000]
    ])
  })
})

describe('SearchQuantumTasks', () => {
  const search = async (body: unknown) => (await braket.call('POST', '/quantum-tasks', body)).body
  const arnsOf = (tasks: { quantumTaskArn: string }[]) => tasks.map(({ quantumTaskArn }) => quantumTaskArn)

  test('pages through everything, newest first', async () => {
    const made: string[] = []
    for (let index = 0; index < 25; index++) made.unshift(await braket.accepted())
    const found: string[] = []
    let nextToken: string | undefined
    do {
      const page = await search({ filters: [], ...(nextToken && { nextToken }) })
      expect(page.quantumTasks.length).toBeLessThanOrEqual(10)
      found.push(...arnsOf(page.quantumTasks))
      nextToken = page.nextToken
    } while (nextToken)
    expect(found).toEqual(made)
    expect((await search({ filters: [], maxResults: 100 })).quantumTasks).toHaveLength(25)
  })

  test('filters by device, status and time', async () => {
    const [old] = [await braket.accepted({ deviceArn: forte })]
    braket.control.advance(120_000)
    const recent = await braket.accepted({ outputS3KeyPrefix: 'found/by/prefix' })
    const filter = async (name: string, operator: string, ...values: string[]) =>
      arnsOf((await search({ filters: [{ name, operator, values }] })).quantumTasks)
    expect(await filter('deviceArn', 'EQUAL', forte)).toEqual([old])
    expect(await filter('status', 'EQUAL', 'COMPLETED')).toEqual([old])
    expect(await filter('status', 'EQUAL', 'COMPLETED', 'CREATED', 'QUEUED')).toEqual([recent, old])
    const { createdAt, outputS3Directory } = (await search({ filters: [] })).quantumTasks[0]
    expect(outputS3Directory).toMatch(/^found\/by\/prefix\//)
    expect(await filter('createdAt', 'LT', createdAt)).toEqual([old])
    expect(await filter('createdAt', 'BETWEEN', createdAt, createdAt)).toEqual([recent])
  })

  test.each([
    [{}, 'filters: must be a list'],
    [{ filters: [{ name: 'shots', operator: 'EQUAL', values: ['1'] }] }, 'There is no filter shots'],
    [{ filters: [{ name: 'status', operator: 'GT', values: ['1'] }] }, 'takes only the operator EQUAL'],
    [{ filters: [], nextToken: 'abc' }, 'nextToken'],
    [{ filters: [], maxResults: 101 }, 'maxResults']
  ])('refuses %j', async (body, words) => {
    const answer = await braket.call('POST', '/quantum-tasks', body)
    expect([...errorOf(answer), answer.body.message]).toEqual([
      400,
      'ValidationException',
      expect.stringContaining(words)
    ])
  })
})
