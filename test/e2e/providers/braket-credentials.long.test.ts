// Credentials of AWS Braket that change while a task waits: the record says which ones to store, and the job goes on with
// them. The emulator's ledger shows one task for each job.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { longTest } from '../../support/lane.js'
import { type ProviderPlatform, paidBackends, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('braket-credentials', { providers: ['aws-braket'] })
}, 240_000)

beforeEach(async () => {
  braket().reset()
  await platform.storeCredentials('aws-braket')
})

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const HOUR_MS = 3_600_000
const braket = () => platform.provider('aws-braket')

interface Keys {
  access_key_id: string
  secret_access_key: string
  session_token?: string
}

const control = <T>(path: string, body?: unknown) => platform.steer<T>('aws-braket', path, body)

/** The emulator's permanent pairs: the team's own, another of its account, and one of another account. */
const pairs = async (): Promise<Keys[]> =>
  (await control<{ keys: Keys[] }>('/keys')).keys.map(({ access_key_id, secret_access_key }) => ({
    access_key_id,
    secret_access_key
  }))

const store = ({ access_key_id, secret_access_key, session_token }: Keys) =>
  platform.storeCredentials('aws-braket', {
    access_key_id,
    secret_access_key,
    ...(session_token !== undefined && { session_token })
  })

const waitingJob = () => platform.waitingAt('aws-braket')

const message = (id: string, words: RegExp) => platform.queueMessage(id, words)

async function completes(id: string): Promise<void> {
  braket().advance(48 * HOUR_MS)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1, actual_cost_usd: 1.3 })
  expect(braket().tasks()).toHaveLength(1)
}

test('a session token that expires in the queue is named, and the job goes on with a new one', async () => {
  await store(await control<Keys>('/tokens', { expires_in_ms: HOUR_MS }))
  const id = await waitingJob()
  braket().advance(2 * HOUR_MS)
  await message(id, /session token of the team's aws-braket credentials has expired/)
  await store(await control<Keys>('/tokens', { expires_in_ms: 100 * HOUR_MS }))
  await completes(id)
}, 240_000)

test('keys of another account are named with both accounts; nothing is sent with them', async () => {
  const [own, , strangers] = await pairs()
  const id = await waitingJob()
  await store(strangers!)
  expect(await message(id, /account 210987654321; the task is in account 123456789012/)).not.toContain(
    strangers!.secret_access_key
  )
  await store(own!)
  await completes(id)
}, 240_000)

longTest(
  'a revoked key is named, and the job goes on with another key of the account',
  async () => {
    const [own, second] = await pairs()
    const id = await waitingJob()
    await control('/keys', { access_key_id: own!.access_key_id, active: false })
    await message(id, /AWS does not know the access key/)
    await store(second!)
    await completes(id)
  },
  240_000
)

longTest(
  'a key that is replaced by another one of the account changes nothing for a job that waits',
  async () => {
    const [, second] = await pairs()
    const id = await waitingJob()
    await store(second!)
    await completes(id)
    expect((await platform.job(id)).queue).toBeNull()
  },
  240_000
)

longTest(
  'a bucket in another region than the device refuses the job before anything is sent, and says where it is',
  async () => {
    await control('/buckets', { bucket: 'amazon-braket-emulated', region: 'eu-north-1' })
    const job = await platform.ended(await platform.submitPaid({ backend: paidBackends['aws-braket'] }))
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_refused' }, actual_cost_usd: 0 })
    expect(job.error!.message).toMatch(/bucket .*eu-north-1.*us-east-1/)
    expect(braket().tasks()).toEqual([])
  },
  240_000
)
