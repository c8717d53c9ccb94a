// A job at a provider whose workflow is lost or terminated gets another one, which continues from the stored state.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-restarts', {
    env: { WORKFLOW_QUIET_SECONDS: '2', WORKFLOW_MISSING_SECONDS: '1', WORKFLOW_SWEEP_SECONDS: '1' }
  })
}, 90_000)

beforeEach(() => {
  platform.ionq.reset()
  platform.ionq.timing({ queueMs: 86_400_000, runMs: 1_000 })
})

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

test('a workflow that Temporal has lost: the next one follows the same provider job, and nothing is paid twice', async () => {
  const id = await platform.submitPaid()
  await platform.accepted(id)
  await platform.forgetWorkflow(id)
  await platform.until(id, ({ workflow }) => workflow!.id === `job-${id}-2`)
  platform.ionq.advance(2 * 86_400_000)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1, actual_cost_usd: 1.3 })
  expect(platform.ionq.tasks()).toHaveLength(1)
}, 90_000)

test('a workflow that is lost together with the response to its submission: the next one finds the provider job', async () => {
  platform.ionq.fault({ match: { method: 'POST', path: '/jobs' }, kind: 'drop_after' })
  platform.ionq.fault({ match: { method: 'GET', path: '/jobs' }, kind: 'status', status: 503, times: 8 })
  const id = await platform.submitPaid()
  await platform.paidTasks(1)
  await platform.forgetWorkflow(id)
  await platform.accepted(id)
  platform.ionq.advance(2 * 86_400_000)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
  expect(platform.ionq.tasks()).toHaveLength(1)
}, 90_000)

test('a workflow that an operator terminates: its provider job is cancelled', async () => {
  const id = await platform.submitPaid()
  await platform.accepted(id)
  await platform.workflow(id, (handle) => handle.terminate('an operator said so'))
  expect(await platform.ended(id)).toMatchObject({
    status: 'cancelled',
    cancel: { outcome: 'provider_confirmed' },
    workflow: { id: `job-${id}-2` }
  })
  expect(platform.ionq.tasks()).toMatchObject([{ state: 'canceled' }])
}, 90_000)
