// A quantum computer that bills seconds and is no emulator, as far as api and worker know: nothing is sent to it before an
// administrator has set the price of a second, which then caps what is sent.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { grantPlatformAdmin } from '../../../db/accounts/accounts.js'
import { type ProviderPlatform, paidBackends, startProviderPlatform } from '../../support/stack/provider-platform.js'
import { providers, requestsTo } from '../../support/stack/provider-rows.js'

const slug = paidBackends['ibm-quantum']
const { submitting } = providers.find(({ name }) => name === 'ibm-quantum')!

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('ibm-price', {
    providers: ['ibm-quantum'],
    env: { EMULATED_HARDWARE: '' }
  })
  await grantPlatformAdmin(platform.connection.db, 'ada@example.org')
}, 240_000)

afterAll(() => platform.close())

test('IBM gets no job that costs something until its seconds have a price, and then one with a cap', async () => {
  const control = platform.provider('ibm-quantum')
  const sent = () => requestsTo(control.requests(), submitting)
  const refused = await platform.ended(await platform.submitPaid({ backend: slug }))
  expect(refused).toMatchObject({ status: 'failed', error: { code: 'backend_unavailable' }, actual_cost_usd: 0 })
  expect(refused.error!.message).toContain(`(qjob admin backend ${slug})`)
  expect(sent()).toEqual([])

  const pricing = { taskFee: 0, perShot: 0, minimumCost: 0, perSecond: 1.6, secondsMax: 10 }
  expect((await platform.call('PATCH', `/api/admin/backends/${slug}`, { pricing })).status).toBe(200)
  await platform.steer('ibm-quantum', '/settings', { usage_lag_ms: 0, qpu_seconds: 3 })
  const paid = await platform.ended(await platform.submitPaid({ backend: slug }))
  expect(paid).toMatchObject({ status: 'completed', estimated_cost_usd: 16, actual_cost_usd: 4.8, emulated: false })
  expect(control.tasks().map(({ metadata }) => metadata.cost)).toEqual(['10'])
  expect(await platform.mismatches()).toEqual([])
}, 240_000)
