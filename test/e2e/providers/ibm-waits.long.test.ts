// What can happen at IBM Quantum while a job waits: tokens expire, keys are revoked, an instance uses up its seconds, and IBM
// stops a job. The emulator's ledger shows one job for each.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { longTest } from '../../support/lane.js'
import { type ProviderPlatform, paidBackends, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('ibm-waits', { providers: ['ibm-quantum'] })
}, 240_000)

beforeEach(async () => {
  ibm().reset()
  await control('/settings', { starts_per_minute: 1_000, usage_lag_ms: 0 })
  await platform.storeCredentials('ibm-quantum')
})

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const HOUR_MS = 3_600_000
const ibm = () => platform.provider('ibm-quantum')
const submit = () => platform.submitPaid({ backend: paidBackends['ibm-quantum'] })

const control = <T>(path: string, body?: unknown) => platform.steer<T>('ibm-quantum', path, body)

const waitingJob = () => platform.waitingAt('ibm-quantum')

const message = (id: string, words: RegExp) => platform.queueMessage(id, words)

async function completes(id: string): Promise<void> {
  ibm().advance(48 * HOUR_MS)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1, error: null })
  expect(ibm().tasks()).toHaveLength(1)
}

test('a key that is revoked in the queue is named, and the job goes on with another key of the account', async () => {
  const { keys } = await control<{ keys: { token: string }[] }>('/keys')
  const id = await waitingJob()
  await control('/keys', { token: keys[0]!.token, active: false })
  // A token outlives its key.
  ibm().advance(2 * HOUR_MS)
  expect(await message(id, /API key could not be found.*store a valid token/)).not.toContain(keys[0]!.token)
  await platform.storeCredentials('ibm-quantum', { token: keys[1]!.token })
  await completes(id)
}, 240_000)

longTest(
  'tokens that expire in the queue are renewed unseen',
  async () => {
    const id = await waitingJob()
    ibm().advance(2 * HOUR_MS)
    await control('/tokens', { expire: true })
    await completes(id)
    expect((await platform.job(id)).queue).toBeNull()
  },
  240_000
)

test('an instance that has used up its seconds holds the job, which is sent once it has new ones', async () => {
  await control('/settings', { usage_limit_seconds: 0 })
  const id = await submit()
  await message(id, /409: .*limit of 0 seconds/)
  expect(ibm().tasks()).toEqual([])
  await control('/settings', { usage_limit_seconds: null })
  await completes(id)
}, 240_000)

test('a job that needs more seconds than its cap fails in the words of IBM', async () => {
  await control('/settings', { qpu_seconds: 20_000 })
  const job = await platform.ended(await submit())
  expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_failed' } })
  expect(job.error!.message).toMatch(/Cancelled - Ran too long.*maximum execution time.*\(error 1305\)/)
  expect(ibm().tasks()).toHaveLength(1)
}, 240_000)

longTest(
  'a device that the instance does not have refuses the job before anything is sent',
  async () => {
    // The description of the other one is kept for five minutes.
    ibm().device('ibm_marrakesh', 'retired')
    const job = await platform.ended(await platform.submitPaid({ backend: 'ibm-marrakesh' }))
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_refused' }, actual_cost_usd: 0 })
    expect(job.error!.message).toMatch(/has no device ibm_marrakesh/)
    expect(ibm().tasks()).toEqual([])
  },
  240_000
)
