// A job at a provider survives restarts of every part for as long as it waits. One whose workflow is lost or terminated gets
// another one, which continues from the stored state.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'
import { providers, requestsTo } from '../../support/stack/provider-rows.js'

const DAY_MS = 86_400_000
const HISTORY_EVENTS_MAX = 100

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-restarts', {
    providers: providers.map(({ name }) => name),
    own: { temporal: true },
    env: { WORKFLOW_QUIET_SECONDS: '2', WORKFLOW_MISSING_SECONDS: '1', WORKFLOW_SWEEP_SECONDS: '1' }
  })
}, 240_000)

beforeEach(() => {
  for (const { name } of providers) {
    platform.provider(name).reset()
    platform.provider(name).timing({ queueMs: DAY_MS, runMs: 1_000 })
  }
})

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

/** Five of the worker, two of Temporal and one of the api. */
const restarts = ['worker', 'temporal', 'worker', 'api', 'worker', 'temporal', 'worker', 'worker'] as const

test('three days in the queue of each provider, with restarts of every part: one paid provider job, and a short history', async () => {
  const waits = 3 * DAY_MS
  const jobs = await Promise.all(
    providers.map(async (provider) => {
      const control = platform.provider(provider.name)
      control.timing({ queueMs: waits, runMs: 60_000 })
      return { ...provider, control, id: await platform.submitAt(provider.name) }
    })
  )
  for (const { id } of jobs) {
    await platform.accepted(id)
    expect(await platform.until(id, ({ queue }) => queue !== null)).toMatchObject({
      status: 'running',
      queue: { reason: 'provider_queue' }
    })
  }
  for (const part of restarts) {
    await platform.kill(part)
    for (const { control } of jobs) control.advance(waits / restarts.length)
    await platform.start[part]()
    const before = jobs.map(({ control, looking }) => requestsTo(control.requests(), looking).length)
    // The step follows the task again before the next part is killed.
    await eventually(
      () => jobs.every(({ control, looking }, at) => requestsTo(control.requests(), looking).length > before[at]!),
      { timeoutMs: 120_000, message: () => `nothing is looked up after a restart of ${part}:\n${platform.logs()}` }
    )
  }
  for (const { control, id } of jobs) {
    control.advance(120_000)
    expect(await platform.ended(id, 120_000)).toMatchObject({
      status: 'completed',
      attempts: 1,
      actual_cost_usd: 1.3,
      workflow: { id: `job-${id}` }
    })
    expect(control.tasks()).toHaveLength(1)
    const history = await platform.workflow(id, (handle) => handle.fetchHistory())
    expect(history.events!.length).toBeLessThan(HISTORY_EVENTS_MAX)
  }
}, 1_200_000)

describe.each(providers)('$name', ({ name, submitting, finding, cancelled }) => {
  const control = () => platform.provider(name)

  test('a workflow that Temporal has lost: the next one follows the same provider job, and nothing is paid twice', async () => {
    const id = await platform.submitAt(name)
    await platform.accepted(id)
    await platform.forgetWorkflow(id)
    await platform.until(id, ({ workflow }) => workflow!.id === `job-${id}-2`)
    control().advance(2 * DAY_MS)
    expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1, actual_cost_usd: 1.3 })
    expect(control().tasks()).toHaveLength(1)
  }, 240_000)

  test('a workflow that is lost together with the response to its submission: the next one finds the provider job', async () => {
    control().fault({ match: submitting, kind: 'drop_after' })
    control().fault({ match: finding ?? submitting, kind: 'status', status: 503, times: 8 })
    const id = await platform.submitAt(name)
    await platform.paidTasksAt(name, 1)
    await platform.forgetWorkflow(id)
    await platform.accepted(id)
    control().advance(2 * DAY_MS)
    expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
    expect(control().tasks()).toHaveLength(1)
  }, 240_000)

  test('a workflow that an operator terminates: its provider job is cancelled', async () => {
    const id = await platform.submitAt(name)
    await platform.accepted(id)
    await platform.workflow(id, (handle) => handle.terminate('an operator said so'))
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'provider_confirmed' },
      workflow: { id: `job-${id}-2` }
    })
    expect(control().tasks()).toMatchObject([{ state: cancelled }])
  }, 240_000)
})
