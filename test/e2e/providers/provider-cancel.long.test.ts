// A cancel of a job at a provider, at each stage: the record states how far it got, and exactly the provider's work is
// paid.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { longTest, rowsOfLane, testOfRow } from '../../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'
import { isFirst, providers, requestsTo } from '../../support/stack/provider-rows.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-cancel', { providers: providers.map(({ name }) => name) })
}, 240_000)

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const DAY_MS = 86_400_000
const COST = 1.3

const confirmed = { status: 'cancelled', cancel: { outcome: 'provider_confirmed' }, actual_cost_usd: 0 }
const stoppedBefore = { status: 'cancelled', cancel: { outcome: 'stopped_before_provider' }, actual_cost_usd: 0 }

describe.each(providers)('$name', (provider) => {
  const { name, submitting, looking, cancelled } = provider
  const oftenTest = testOfRow(isFirst(provider))
  const control = () => platform.provider(name)
  const submit = (body?: Record<string, unknown>) => platform.submitAt(name, body)
  const isSent = () => eventually(() => requestsTo(control().requests(), submitting).length > 0, { timeoutMs: 90_000 })
  beforeEach(() => control().reset())

  oftenTest(
    'a cancel before the start: nothing is sent or paid',
    async () => {
      const id = await submit({ not_before: new Date(Date.now() + DAY_MS).toISOString() })
      await platform.cancel(id)
      expect(await platform.ended(id)).toMatchObject(stoppedBefore)
      expect(requestsTo(control().requests(), submitting)).toEqual([])
    },
    240_000
  )

  longTest(
    'a cancel while the provider refuses the submission: nothing is accepted or paid',
    async () => {
      control().fault({ match: submitting, kind: 'status', status: 429, times: 1000 })
      const id = await submit()
      await isSent()
      await platform.cancel(id)
      expect(await platform.ended(id)).toMatchObject(stoppedBefore)
      expect(control().tasks()).toEqual([])
    },
    240_000
  )

  oftenTest(
    'a cancel while the response to the submission is lost: the provider job is found and cancelled',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      control().fault({ match: submitting, kind: 'hang_after' })
      const id = await submit()
      await isSent()
      await platform.paidTasksAt(name, 1)
      await platform.cancel(id)
      expect(await platform.ended(id)).toMatchObject(confirmed)
      expect(control().tasks()).toMatchObject([{ state: cancelled }])
    },
    240_000
  )

  test.each(rowsOfLane(['direct', 'temporal'], (mode) => isFirst(provider) || mode === 'temporal'))(
    'in the queue of the provider, mode %s: the provider confirms',
    async (execution_mode) => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      const id = await submit({ execution_mode })
      await platform.accepted(id)
      expect((await platform.cancel(id)).status).toBe('cancelling')
      expect(await platform.ended(id)).toMatchObject(confirmed)
      expect(control().tasks()).toMatchObject([{ state: cancelled }])
      expect((await platform.attempts(id)).map(({ state }) => state)).toEqual(['cancelled'])
    },
    240_000
  )

  longTest(
    'a cancel while the job runs at the provider',
    async () => {
      control().timing({ queueMs: 0, runMs: DAY_MS })
      const id = await submit()
      await platform.until(id, ({ provider_jobs }) => (provider_jobs as { status: string }[])[0]?.status === 'running')
      await platform.cancel(id)
      const billed = provider.billsCancelledRuns && { actual_cost_usd: COST }
      expect(await platform.ended(id)).toMatchObject({ ...confirmed, ...billed })
      expect(control().tasks()).toMatchObject([{ state: cancelled }])
    },
    240_000
  )

  oftenTest(
    'a cancel that is too late: the completed result is delivered and paid',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      const id = await submit()
      await platform.accepted(id)
      // It completes there, and the service cannot query it before the cancellation is recorded.
      control().fault({ match: looking, kind: 'status', status: 503, times: 1_000_000 })
      control().advance(2 * DAY_MS)
      await platform.cancel(id)
      control().clearFaults()
      expect(await platform.ended(id)).toMatchObject({
        status: 'completed',
        cancel: { outcome: 'too_late' },
        actual_cost_usd: COST
      })
    },
    240_000
  )

  longTest(
    'a cancel while the provider does not respond: the job ends with its money held, which is settled once the provider is back',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      const id = await submit()
      await platform.accepted(id)
      control().fault({ kind: 'offline', times: 1_000_000 })
      await platform.cancel(id)
      await platform.passCancelDeadline(id)
      expect(await platform.ended(id)).toMatchObject({
        status: 'cancelled',
        cancel: { outcome: 'provider_unknown' },
        actual_cost_usd: null
      })
      expect((await platform.money()).reserved).toBeCloseTo(COST, 6)

      expect(control().tasks()).toHaveLength(1)
      await platform.askAfterHeld()
      expect((await platform.money()).reserved).toBeCloseTo(COST, 6)

      control().clearFaults()
      control().advance(2 * DAY_MS)
      await platform.askAfterHeld()
      const settled = await platform.until(id, ({ actual_cost_usd }) => actual_cost_usd !== null)
      expect(settled).toMatchObject({ status: 'cancelled', actual_cost_usd: COST })
    },
    240_000
  )

  longTest(
    'a workflow cancelled in the Temporal UI cancels at the provider too',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      const id = await submit()
      await platform.accepted(id)
      await platform.workflow(id, (handle) => handle.cancel())
      expect(await platform.ended(id)).toMatchObject(confirmed)
      expect(control().tasks()).toMatchObject([{ state: cancelled }])
    },
    240_000
  )
})
