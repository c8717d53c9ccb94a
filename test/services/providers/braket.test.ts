// The adapter of AWS Braket against the emulated AWS, which checks every signature by code of its own.
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault, type ProviderFaultKind, type ProviderJobRequest } from '../../../services/providers/adapter.js'
import { createBraket } from '../../../services/providers/braket/braket.js'
import { aquila, bucket, cepheus, forte, garnet, startBraket, sv1 } from '../../emulators/braket-client.js'

const ACCOUNT = '123456789012'
const OTHER_ACCOUNT = '210987654321'

// Whatever the surroundings of the process hold, only a team's credentials count.
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: 'AKIASURROUNDINGS0000',
  AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-surroundings',
  AWS_SESSION_TOKEN: 'a-token-of-the-surroundings',
  AWS_REGION: 'eu-west-2',
  AWS_DEFAULT_REGION: 'eu-west-2',
  AWS_PROFILE: 'surroundings'
})

const emulator = await startBraket()
const addresses = {
  braket: emulator.variables.AWS_ENDPOINT_URL_BRAKET!,
  s3: emulator.variables.AWS_ENDPOINT_URL_S3!,
  sts: emulator.variables.AWS_ENDPOINT_URL_STS!
}
/** A new adapter remembers nothing. */
const adapter = () => createBraket(addresses)
let braket = adapter()
const credentials: Credentials = emulator.credentials
const { signal } = new AbortController()
beforeEach(async () => {
  emulator.control.reset()
  await braket.close()
  braket = adapter()
})
afterAll(async () => {
  await braket.close()
  await emulator.close()
})

const text = (qubits: number, bits: number, ...lines: string[]) =>
  ['OPENQASM 3.0;', `bit[${bits}] b;`, `qubit[${qubits}] q;`, ...lines, ''].join('\n')

/** X on qubit 0 of three, all measured. */
const asymmetric = {
  text: text(3, 3, 'x q[0];', 'b[0] = measure q[0];', 'b[1] = measure q[1];', 'b[2] = measure q[2];'),
  qubits: 3,
  readout: { kind: 'qubits' as const, bits: [0, 1, 2] }
}
const jobOf = (changes: Partial<ProviderJobRequest> = {}): ProviderJobRequest => ({
  token: createHash('sha256').update(randomUUID()).digest('hex'),
  target: sv1,
  program: asymmetric,
  shots: 20,
  name: 'a job',
  ...changes
})

async function locate(target: string, own: Credentials = credentials) {
  return { credentials: own, place: await braket.place(own, target, signal) }
}

async function submit(task = jobOf(), own = credentials): Promise<string> {
  return (await braket.stage(await locate(task.target, own), task, signal))(signal)
}

/** Runs a task to its end. */
async function finished(task = jobOf()): Promise<string> {
  const id = await submit(task)
  emulator.control.advance(200_000)
  return id
}

const fault = (kind: ProviderFaultKind, message: RegExp | string) =>
  expect.objectContaining({ name: ProviderFault.name, kind, message: expect.stringMatching(message) })

const since = () => new Date()

describe('credentials', () => {
  test('are checked by asking whose they are, and what they open is named', async () => {
    expect(await braket.verify(credentials, signal)).toEqual({
      account: ACCOUNT,
      region: 'us-east-1',
      bucket,
      devices: expect.arrayContaining(['SV1', 'Aquila', 'Forte 1']),
      faults: []
    })
  })

  test('without region and bucket are taken, and what they lack is named', async () => {
    const { s3_bucket: _bucket, default_region: _region, ...keys } = credentials
    expect(await braket.verify(keys, signal)).toMatchObject({
      account: ACCOUNT,
      region: expect.stringContaining('default_region'),
      bucket: expect.stringContaining('s3_bucket'),
      faults: ['default_region is not set: jobs on simulators need it', 's3_bucket is not set: jobs need it']
    })
  })

  test('of a bucket in another region, or of none, are taken, and the bucket is told', async () => {
    const elsewhere = { ...credentials, s3_bucket: 'amazon-braket-emulated-eu-north-1' }
    expect(await braket.verify(elsewhere, signal)).toMatchObject({
      bucket: expect.stringContaining('eu-north-1; set'),
      faults: [expect.stringMatching(/^amazon-braket-emulated-eu-north-1: .*the bucket is in eu-north-1; set/)]
    })
    const nowhere = { ...credentials, s3_bucket: 'no-such-bucket' }
    expect(await braket.verify(nowhere, signal)).toMatchObject({
      bucket: expect.stringContaining('no such bucket'),
      faults: [expect.stringContaining('no such bucket')]
    })
    await emulator.steer('POST', '/settings', { list_bucket: false })
    expect(await braket.verify(credentials, signal)).toMatchObject({
      bucket: expect.stringContaining('s3:ListBucket'),
      faults: []
    })
  })

  test.each<[string, () => Credentials | Promise<Credentials>, RegExp]>([
    ['a wrong secret', () => ({ ...credentials, secret_access_key: 'x'.repeat(40) }), /secret_access_key .* does not/],
    [
      'an unknown key',
      () => ({ ...credentials, access_key_id: 'AKIA00000000UNKNOWN0' }),
      /does not know the access key/
    ],
    [
      'a revoked key',
      async () => {
        await emulator.steer('POST', '/keys', { access_key_id: credentials.access_key_id, active: false })
        return credentials
      },
      /revoked/
    ],
    ['an expired session token', async () => ({ ...credentials, ...(await tokenOf(0)) }), /session token .* expired/],
    ['a region without Braket', () => ({ ...credentials, default_region: 'ap-south-1' }), /ap-south-1.*us-east-1/]
  ])('with %s are rejected with the reason', async (_what, given, reason) => {
    await expect(braket.verify(await given(), signal)).rejects.toEqual(fault('unauthorized', reason))
  })

  test('with a session token sign with it', async () => {
    const own = { ...credentials, ...(await tokenOf(60_000)) }
    expect(await braket.verify(own, signal)).toMatchObject({ account: ACCOUNT })
    expect(await submit(jobOf(), own)).toContain(ACCOUNT)
  })
})

async function tokenOf(expiresInMs: number): Promise<Credentials> {
  const { body } = await emulator.steer('POST', '/tokens', { expires_in_ms: expiresInMs })
  const { access_key_id, secret_access_key, session_token } = body
  return { access_key_id, secret_access_key, session_token }
}

describe('the place of a job', () => {
  test.each([
    ['a quantum computer', garnet, 'eu-north-1'],
    ['a simulator', sv1, 'us-east-1']
  ])('is the account, with the region of %s, bucket and prefix, and no secret', async (_what, target, region) => {
    const place = await braket.place({ ...credentials, s3_prefix: 'team/one/' }, target, signal)
    expect(place).toEqual({ account: ACCOUNT, region, bucket, prefix: 'team/one' })
  })

  test('is refused without a bucket, and for a simulator without a region', async () => {
    const { s3_bucket: _bucket, ...bucketless } = credentials
    await expect(braket.place(bucketless, forte, signal)).rejects.toEqual(
      fault('refused', "No result storage destination: set s3_bucket in the team's aws-braket credentials")
    )
    const { default_region: _region, ...regionless } = credentials
    await expect(braket.place(regionless, sv1, signal)).rejects.toEqual(fault('refused', /default_region/))
    expect(await braket.place(regionless, forte, signal)).toMatchObject({ region: 'us-east-1' })
  })

  test('asks whose a key is once', async () => {
    await braket.place(credentials, forte, signal)
    await braket.place(credentials, sv1, signal)
    expect(emulator.control.requests().filter(({ path }) => path === '/')).toHaveLength(1)
  })
})

describe('a device', () => {
  const catalogue = (
    JSON.parse(readFileSync(new URL('../../../db/seed/backends.json', import.meta.url), 'utf8')) as {
      provider: string
      providerTargetId: string
      isRetired: boolean
      supportedProgramTypes: string[]
    }[]
  ).filter(({ provider }) => provider === 'AWS Braket')

  test('of the catalogue is described, each in its region', async () => {
    for (const { providerTargetId: target, isRetired, supportedProgramTypes } of catalogue) {
      const facts = await braket.describe(credentials, { target, width: null }, signal)
      expect([target, facts.status]).toEqual([target, isRetired ? 'retired' : 'online'])
      expect(facts.target.format).toBe(supportedProgramTypes.includes('ahs') ? 'ahs' : 'braket')
      expect(facts.shots?.min).toBe(1)
      expect(facts.price?.amount).toBeGreaterThan(0)
    }
  })

  test('that measures all qubits or none says so', async () => {
    const { target } = await braket.describe(credentials, { target: cepheus, width: null }, signal)
    expect(target).toMatchObject({ format: 'braket', num_qubits: 108, measures_all: true })
    expect(target.gates).toContain('cz')
  })

  test('for analog programs names its limits', async () => {
    const { target } = await braket.describe(credentials, { target: aquila, width: null }, signal)
    expect(target).toMatchObject({ format: 'ahs', num_qubits: 256, limits: { lattice: { geometry: {} } } })
  })

  test('is asked for once in five minutes', async () => {
    await braket.describe(credentials, { target: garnet, width: null }, signal)
    await braket.describe(credentials, { target: garnet, width: null }, signal)
    expect(emulator.control.requests()).toHaveLength(1)
  })

  test('shows its status and its queue in the list of all regions', async () => {
    emulator.control.device(garnet, 'OFFLINE')
    emulator.control.device(forte, 'RETIRED')
    await emulator.steer('POST', '/settings', { queue_depth: 7 })
    const states = new Map((await braket.backends(credentials, signal)).map((state) => [state.target, state]))
    for (const { providerTargetId } of catalogue) expect(states.has(providerTargetId)).toBe(true)
    expect(states.get(garnet)).toMatchObject({ status: 'offline', queueLength: null })
    expect(states.get(forte)).toMatchObject({ status: 'retired' })
    expect(states.get(aquila)).toMatchObject({ status: 'online', queueLength: 7 })
    expect(states.get(sv1)).toMatchObject({ status: 'online', queueLength: null })
  })

  test('of a region that does not answer is left as it was', async () => {
    emulator.control.fault({ kind: 'status', status: 403, match: { path: '/devices' } })
    expect((await braket.backends(credentials, signal)).length).toBeGreaterThan(0)
    emulator.control.fault({ kind: 'status', status: 403, match: { path: '/devices' }, times: 5 })
    await expect(braket.backends(credentials, signal)).rejects.toEqual(fault('unauthorized', /403/))
  })
})

describe('a task', () => {
  test.each([sv1, forte, garnet])('runs on %s, and its bits are canonical', async (target) => {
    const task = jobOf({ target })
    const id = await submit(task)
    const at = await locate(target)
    expect(await braket.look(at, id, signal)).toMatchObject({ status: 'queued', queuePosition: 1, cost: null })
    emulator.control.advance(200_000)
    expect(await braket.look(at, id, signal)).toMatchObject({
      status: 'completed',
      raw: 'COMPLETED',
      queuePosition: null
    })
    const counts = await braket.counts(at, id, task, signal)
    expect(counts).toMatchObject({ counts: { '100': 20 }, source: 'provider_measurements', probabilities: null })
    expect(counts.executionTimeMs === null).toBe(target !== sv1)
  })

  test('is found by its token, also behind many others', async () => {
    const task = jobOf()
    const id = await submit(task)
    const at = await locate(sv1)
    expect(await braket.find(at, task, since(), signal)).toBe(id)
    // The other filters of the list must not hide it.
    expect(await braket.find(at, { token: task.token, target: null }, since(), signal)).toBe(id)
    expect(await braket.find(at, { ...task, target: forte }, since(), signal)).toBeNull()
    expect(await braket.find(at, jobOf(), since(), signal)).toBeNull()
    for (let other = 0; other < 101; other++) await submit()
    expect(await braket.find(at, task, since(), signal)).toBe(id)
  })

  test('is one task, however often its request arrives', async () => {
    const task = jobOf()
    expect(await submit(task)).toBe(await submit(task))
    expect(emulator.control.tasks()).toHaveLength(1)
  })

  test('may exist when AWS knows its token from another request', async () => {
    const task = jobOf()
    await submit(task)
    await expect(submit({ ...task, shots: 30 })).rejects.toEqual(fault('unclear', /clientToken/))
  })

  test('has no position behind more than AWS counts, or where AWS names none', async () => {
    await emulator.steer('POST', '/settings', { queue_depth: 5000 })
    const id = await submit()
    expect(await braket.look(await locate(sv1), id, signal)).toMatchObject({ status: 'queued', queuePosition: null })
    emulator.control.advance(61_000)
    expect(await braket.look(await locate(sv1), id, signal)).toMatchObject({ status: 'running', queuePosition: null })
  })

  test('with an unknown status is running', async () => {
    const id = await submit()
    const at = await locate(sv1)
    emulator.control.fault({ kind: 'unknown_status' })
    expect(await braket.look(at, id, signal)).toMatchObject({ status: 'running', raw: 'RECALIBRATING' })
  })

  test('that is cancelled says so, and a second request changes nothing', async () => {
    const id = await submit()
    const at = await locate(sv1)
    await braket.cancel(at, id, signal)
    emulator.control.advance(1_000)
    expect(await braket.look(at, id, signal)).toMatchObject({ status: 'cancelled' })
    await braket.cancel(at, id, signal)
  })

  test('that has failed names the reason', async () => {
    const id = await submit(jobOf({ target: forte }))
    emulator.control.device(forte, 'RETIRED')
    emulator.control.advance(1_000)
    expect(await braket.look(await locate(forte), id, signal)).toMatchObject({
      status: 'failed',
      failure: expect.stringContaining('retired')
    })
  })
})

describe('a submission', () => {
  test.each([
    ['does not exist', 'no-such-bucket', /no such bucket/],
    ['is in another region', 'amazon-braket-emulated-us-west-1', /in us-west-1; set s3_bucket .* us-east-1/]
  ])('is refused before anything is sent when its bucket %s', async (_what, s3_bucket, reason) => {
    await expect(submit(jobOf(), { ...credentials, s3_bucket })).rejects.toEqual(fault('refused', reason))
    expect(emulator.control.requests().filter(({ path }) => path === '/quantum-task')).toEqual([])
  })

  test('goes on without the right to list the bucket', async () => {
    await emulator.steer('POST', '/settings', { list_bucket: false })
    expect(await submit()).toContain(ACCOUNT)
  })

  test.each<[number, ProviderFaultKind]>([
    [400, 'refused'],
    [402, 'busy'],
    [403, 'unauthorized'],
    [409, 'unclear'],
    [410, 'retired'],
    [424, 'offline'],
    [429, 'busy'],
    [500, 'unclear'],
    [503, 'unclear']
  ])('that is answered with %i is %s', async (status, kind) => {
    const task = jobOf()
    const request = await braket.stage(await locate(sv1), task, signal)
    emulator.control.fault({ kind: 'status', status, retry_after: 7, match: { path: '/quantum-task' } })
    await expect(request(signal)).rejects.toEqual(fault(kind, new RegExp(`^AWS Braket returned ${status}`)))
    expect(emulator.control.tasks()).toEqual([])
  })

  test('waits for as long as AWS says', async () => {
    const request = await braket.stage(await locate(sv1), jobOf(), signal)
    emulator.control.fault({ kind: 'status', status: 429, retry_after: 7, match: { path: '/quantum-task' } })
    await expect(request(signal)).rejects.toMatchObject({ kind: 'busy', retryAfterMs: 7_000 })
  })

  test('to a device that is offline or retired is told so', async () => {
    emulator.control.device(garnet, 'OFFLINE')
    await expect(submit(jobOf({ target: garnet }))).rejects.toEqual(fault('offline', /offline/))
    emulator.control.device(garnet, 'RETIRED')
    await expect(submit(jobOf({ target: garnet }))).rejects.toEqual(fault('retired', /retired/))
  })
})

describe('while a task waits', () => {
  test('credentials of the same account follow it, and those of another are told both accounts', async () => {
    const task = jobOf()
    const id = await submit(task)
    const { place } = await locate(sv1)
    const { body } = await emulator.steer('GET', '/keys')
    const pairOf = (account: string) =>
      body.keys.find(
        (pair: { account: string; access_key_id: string }) =>
          pair.account === account && pair.access_key_id !== credentials.access_key_id
      )
    const replaced = ({ access_key_id, secret_access_key }: Credentials) => ({
      credentials: { ...credentials, access_key_id: access_key_id!, secret_access_key: secret_access_key! },
      place
    })
    expect(await braket.look(replaced(pairOf(ACCOUNT)), id, signal)).toMatchObject({ status: 'queued' })
    const others = replaced(pairOf(OTHER_ACCOUNT))
    const told = fault('unauthorized', new RegExp(`now of account ${OTHER_ACCOUNT}; the task is in account ${ACCOUNT}`))
    await expect(braket.look(others, id, signal)).rejects.toEqual(told)
    await expect(braket.find(others, task, since(), signal)).rejects.toEqual(told)
    await expect(braket.counts(others, id, task, signal)).rejects.toEqual(told)
    await expect(braket.cancel(others, id, signal)).rejects.toEqual(told)
  })

  test('a session token that expires is named', async () => {
    const own = { ...credentials, ...(await tokenOf(60_000)) }
    const id = await submit(jobOf(), own)
    const at = await locate(sv1, own)
    emulator.control.advance(61_000)
    await expect(braket.look(at, id, signal)).rejects.toEqual(fault('unauthorized', /session token .* expired/))
  })

  test('a key that is revoked is named', async () => {
    const id = await submit()
    const at = await locate(sv1)
    await emulator.steer('POST', '/keys', { access_key_id: credentials.access_key_id, active: false })
    await expect(braket.look(at, id, signal)).rejects.toEqual(fault('unauthorized', /revoked/))
  })
})

describe('results', () => {
  test('that lag behind the task are not there yet, with and without the right to list the bucket', async () => {
    emulator.control.timing({ resultLagMs: 60_000 })
    const task = jobOf()
    const id = await submit(task)
    const at = await locate(sv1)
    emulator.control.advance(121_000)
    expect(await braket.look(at, id, signal)).toMatchObject({ status: 'completed' })
    await expect(braket.counts(at, id, task, signal)).rejects.toEqual(fault('not_found', /404/))
    await emulator.steer('POST', '/settings', { list_bucket: false })
    await expect(braket.counts(at, id, task, signal)).rejects.toEqual(fault('not_found', /403/))
    emulator.control.advance(60_000)
    expect((await braket.counts(at, id, task, signal)).counts).toEqual({ '100': 20 })
  })

  test('in a bucket that has moved wait for the team', async () => {
    const task = jobOf()
    const id = await finished(task)
    const at = await locate(sv1)
    await emulator.steer('POST', '/buckets', { bucket, region: 'eu-west-2' })
    await expect(braket.counts(at, id, task, signal)).rejects.toEqual(fault('unauthorized', /eu-west-2/))
  })

  test.each<[string, string, RegExp]>([
    ['of another form', '{"measurements":[[1,0,0]]}', /schema/],
    ['that are no JSON', '<html>', /cannot be read/],
    ['that are far too long', ' '.repeat(6 * 1024 * 1024), /longer than/]
  ])('%s are refused', async (_what, content, reason) => {
    const task = jobOf()
    const id = await finished(task)
    const { body } = await emulator.task(id)
    await emulator.call('PUT', `/${bucket}/${body.outputS3Directory}/results.json`, content)
    await expect(braket.counts(await locate(sv1), id, task, signal)).rejects.toEqual(fault('refused', reason))
  })
})
