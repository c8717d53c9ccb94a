// A quantum computer that is billed by its seconds: the cap is reserved and sent, IBM stops there, and the seconds that it
// states are paid.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { eq } from 'drizzle-orm'
import { backends } from '../../../db/tables/backends.js'
import { type ProviderPlatform, paidBackends, startProviderPlatform } from '../../support/stack/provider-platform.js'

const slug = paidBackends['ibm-quantum']
/** Reserved: 10 s of 1.60 USD. */
const price = { taskFee: 0n, perShot: 0n, minimumCost: 0n, perSecond: 1_600_000n, secondsMax: 10 }

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('ibm-time', { providers: ['ibm-quantum'] })
  await platform.connection.db.update(backends).set(price).where(eq(backends.slug, slug))
}, 240_000)

beforeEach(() => platform.provider('ibm-quantum').reset())

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const settings = (body: Record<string, number>) => platform.steer('ibm-quantum', '/settings', body)

test('the seconds that IBM states are paid, of what was reserved for the cap', async () => {
  await settings({ usage_lag_ms: 0, qpu_seconds: 3 })
  expect(await platform.ended(await platform.submitPaid({ backend: slug }))).toMatchObject({
    status: 'completed',
    estimated_cost_usd: 16,
    actual_cost_usd: 4.8,
    provider_jobs: [{ cost_usd: 4.8, usage: { amount: 3, unit: 'seconds' } }]
  })
}, 240_000)

test('a job that needs more than the cap is stopped by IBM, fails with that reason, and costs the cap', async () => {
  await settings({ usage_lag_ms: 0, qpu_seconds: 11 })
  expect(await platform.ended(await platform.submitPaid({ backend: slug }))).toMatchObject({
    status: 'failed',
    error: { code: 'provider_failed', message: expect.stringMatching(/ran too long|1305/i) },
    actual_cost_usd: 16
  })
}, 240_000)

test('seconds that IBM states after the end are paid in the place of the estimate', async () => {
  await settings({ usage_lag_ms: 60_000, qpu_seconds: 3 })
  const id = await platform.submitPaid({ backend: slug })
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', actual_cost_usd: 16 })
  platform.provider('ibm-quantum').advance(120_000)
  await platform.askForUsage()
  expect(await platform.until(id, ({ actual_cost_usd }) => actual_cost_usd !== 16)).toMatchObject({
    actual_cost_usd: 4.8,
    provider_jobs: [{ cost_usd: 4.8, usage: { amount: 3, unit: 'seconds' } }]
  })
}, 240_000)
