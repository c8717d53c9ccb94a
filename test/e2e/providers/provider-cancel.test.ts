// A cancel of a job at a provider, at each stage: the record states how far it got, and exactly the provider's work is
// paid.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { longTest } from '../../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-cancel')
}, 90_000)

beforeEach(() => platform.ionq.reset())

afterEach(async () => expect(await platform.mismatches()).toEqual([]))

afterAll(() => platform.close())

const DAY_MS = 86_400_000
const submitting = { method: 'POST', path: '/jobs' }

const asked = (method: string, part: string) =>
  eventually(
    async () => platform.ionq.requests().some((seen) => seen.method === method && seen.path.includes(part)) || null
  )

test('a cancel before the start: nothing is sent or paid', async () => {
  const id = await platform.submitPaid({ not_before: new Date(Date.now() + DAY_MS).toISOString() })
  await platform.cancel(id)
  expect(await platform.ended(id)).toMatchObject({
    status: 'cancelled',
    cancel: { outcome: 'stopped_before_provider' },
    actual_cost_usd: 0
  })
}, 60_000)

longTest(
  'a cancel while the provider refuses the submission: nothing is accepted or paid',
  async () => {
    platform.ionq.fault({ match: submitting, kind: 'status', status: 429, times: 1000 })
    const id = await platform.submitPaid()
    await asked('POST', '/jobs')
    await platform.cancel(id)
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'stopped_before_provider' },
      actual_cost_usd: 0
    })
    expect(platform.ionq.tasks()).toEqual([])
  },
  60_000
)

test('a cancel while the response to the submission is lost: the provider job is found and cancelled', async () => {
  platform.ionq.timing({ queueMs: DAY_MS, runMs: 1_000 })
  platform.ionq.fault({ match: submitting, kind: 'hang_after' })
  const id = await platform.submitPaid()
  await asked('POST', '/jobs')
  await platform.cancel(id)
  expect(await platform.ended(id)).toMatchObject({
    status: 'cancelled',
    cancel: { outcome: 'provider_confirmed' },
    actual_cost_usd: 0
  })
  expect(platform.ionq.tasks()).toMatchObject([{ state: 'canceled' }])
}, 60_000)

test.each(['direct', 'temporal'])(
  'in the queue of the provider, mode %s: the provider confirms',
  async (execution_mode) => {
    platform.ionq.timing({ queueMs: DAY_MS, runMs: 1_000 })
    const id = await platform.submitPaid({ execution_mode })
    await platform.accepted(id)
    const answer = await platform.cancel(id)
    expect(answer.status).toBe('cancelling')
    const job = await platform.ended(id)
    expect(job).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'provider_confirmed' },
      actual_cost_usd: 0
    })
    expect(platform.ionq.tasks()).toMatchObject([{ state: 'canceled' }])
    expect((await platform.attempts(id)).map(({ state }) => state)).toEqual(['cancelled'])
  },
  60_000
)

longTest(
  'a cancel while the job runs at the provider',
  async () => {
    platform.ionq.timing({ queueMs: 0, runMs: DAY_MS })
    const id = await platform.submitPaid()
    await platform.accepted(id)
    await eventually(async () => platform.ionq.tasks()[0]?.state === 'started' || null)
    await platform.cancel(id)
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'provider_confirmed' },
      actual_cost_usd: 0
    })
  },
  60_000
)

test('a cancel that is too late: the completed result is delivered and paid', async () => {
  platform.ionq.timing({ queueMs: DAY_MS, runMs: 1_000 })
  const id = await platform.submitPaid()
  await platform.accepted(id)
  // It completes there before the service can query it again.
  platform.ionq.fault({ match: { method: 'GET', path: '/jobs/' }, kind: 'status', status: 503, times: 2 })
  platform.ionq.advance(2 * DAY_MS)
  await platform.cancel(id)
  expect(await platform.ended(id)).toMatchObject({
    status: 'completed',
    cancel: { outcome: 'too_late' },
    actual_cost_usd: 1.3
  })
}, 60_000)

longTest(
  'a cancel while the provider does not respond: the job ends with its money held, which is settled once the provider is back',
  async () => {
    platform.ionq.timing({ queueMs: DAY_MS, runMs: 1_000 })
    const id = await platform.submitPaid()
    await platform.accepted(id)
    platform.ionq.fault({ kind: 'offline', times: 1_000_000 })
    await platform.cancel(id)
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'provider_unknown' },
      actual_cost_usd: null
    })
    expect((await platform.budget()).day.reserved_usd).toBeCloseTo(1.3, 6)

    const tasks = platform.ionq.tasks()
    expect(tasks).toHaveLength(1)
    await platform.askAfterHeld()
    expect((await platform.budget()).day.reserved_usd).toBeCloseTo(1.3, 6)

    platform.ionq.clearFaults()
    platform.ionq.advance(2 * DAY_MS)
    await platform.askAfterHeld()
    expect(await platform.job(id)).toMatchObject({ status: 'cancelled', actual_cost_usd: 1.3 })
    expect((await platform.budget()).day.reserved_usd).toBe(0)
  },
  90_000
)

longTest(
  'a workflow cancelled in the Temporal UI cancels at the provider too',
  async () => {
    platform.ionq.timing({ queueMs: DAY_MS, runMs: 1_000 })
    const id = await platform.submitPaid()
    await platform.accepted(id)
    await platform.workflow(id, (handle) => handle.cancel())
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'provider_confirmed' },
      actual_cost_usd: 0
    })
    expect(platform.ionq.tasks()).toMatchObject([{ state: 'canceled' }])
  },
  60_000
)
