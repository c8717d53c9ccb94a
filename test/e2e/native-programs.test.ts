// Native programs on a provider's machine and on a local engine: their cost under the cap, and that nothing is lost or
// repeated when a worker dies.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { longTest } from '../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('native-programs')
}, 120_000)

afterEach(async () => {
  platform.ionq.reset()
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const PROGRAM = `from marqov import Circuit, get_device, task, workflow

@task
def flipped(bit, shots):
    return get_device(params).run(Circuit().x(bit).x(2).x(2), shots)

@task
def grown(x):
    import time
    time.sleep(1.5)
    return x * 10**10

@workflow
def two(shots):
    return [flipped(0, shots), flipped(1, shots)]

@workflow
def chain(x):
    for _ in range(8):
        x = grown(x)
    return x
`

const submit = (entrypoint: string, args: number[], changes: Record<string, unknown> = {}, key = randomUUID()) =>
  platform.call(
    'POST',
    '/api/jobs/submit',
    {
      protocol_version: 'marqov.public-submission/v1',
      team_id: platform.teamId,
      backend: 'ionq-direct-forte-1',
      programming_model: 'native_workflow',
      cap_cents: 10_000,
      analysis_id: null,
      source: { kind: 'inline', content: PROGRAM },
      input: JSON.stringify({ entrypoint, args, kwargs: {} }),
      ...changes
    },
    { 'idempotency-key': key }
  )
const submitted = async (...asked: Parameters<typeof submit>): Promise<string> => {
  const answer = await submit(...asked)
  const body = (await answer.json()) as { job_id: string }
  expect([answer.status, body]).toEqual([201, expect.objectContaining({ job_id: expect.any(String) })])
  return body.job_id
}
const runtimes = async (team: string) => {
  const answer = await platform.call('GET', `/api/jobs/managed-runtimes?team_id=${team}`)
  return ((await answer.json()) as { runtimes: { backend: string }[] }).runtimes
}
/** What each output shows, as text. */
const shown = async (id: string) => {
  const text = await (await platform.call('GET', `/api/jobs/${id}/status`)).text()
  return [...text.matchAll(/"state":"available","value":(.*?)\}\}(?=[,\]])/g)].map((match) => match[1])
}

test('a provider’s machine is a runtime for teams with its credentials, with the price of a circuit as the lowest cap', async () => {
  expect(await runtimes(platform.teamId)).toContainEqual({
    backend: 'ionq-direct-forte-1',
    programming_model: 'native_workflow',
    min_cap_cents: 1_030,
    max_cap_cents: 10_000
  })
  const other = (await (await platform.call('POST', '/api/teams', { name: 'without' })).json()) as { id: string }
  const slugs = (await runtimes(other.id)).map(({ backend }) => backend)
  expect(slugs).toContain('local')
  expect(slugs.filter((slug) => slug.startsWith('ionq'))).toEqual([])
  const refused = await submit('two', [100], { team_id: other.id })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('own credentials for IonQ')])
})

test('a native program runs its tasks’ circuits at the provider, and costs their sum', async () => {
  const id = await submitted('two', [100])
  expect(await platform.ended(id, 60_000)).toMatchObject({
    status: 'completed',
    estimated_cost_usd: 10.3,
    actual_cost_usd: 2.6
  })
  expect(await shown(id)).toEqual(['{"100":100}', '{"010":100}'])
  expect(platform.ionq.tasks()).toHaveLength(2)
}, 180_000)

test('a circuit beyond the cap is not sent, and earlier ones are paid', async () => {
  const refused = await submit('two', [1_000], { cap_cents: 1_029 })
  expect([refused.status, await refused.text()]).toEqual([402, expect.stringContaining('$10.29')])
  const id = await submitted('two', [1_000], { cap_cents: 2_000 })
  const { status, error, actual_cost_usd } = await platform.ended(id, 60_000)
  expect({ status, error, actual_cost_usd }).toEqual({
    status: 'failed',
    error: { code: 'budget_exceeded', message: expect.stringContaining('$20.00') },
    actual_cost_usd: expect.any(Number)
  })
  expect(platform.ionq.tasks().length).toBeLessThanOrEqual(1)
  expect(actual_cost_usd).toBeLessThanOrEqual(10.3)
}, 90_000)

longTest(
  'a worker killed between tasks changes no digit, repeats no task, and the receipt stays the same',
  async () => {
    const key = randomUUID()
    const changes = { backend: 'local', cap_cents: 1 }
    const receipt = await (await submit('chain', [7], changes, key)).text()
    const id = (JSON.parse(receipt) as { job_id: string }).job_id
    const done = async () => {
      const { tasks } = (await (await platform.call('GET', `/api/jobs/${id}/tasks`)).json()) as {
        tasks: { state: string; attempts: number }[]
      }
      return tasks.filter(({ state }) => state === 'completed')
    }
    await eventually(async () => (await done()).length >= 3)
    await platform.kill('worker')
    const before = (await done()).length
    expect(before).toBeLessThan(8)
    await platform.start.worker()
    expect(await (await submit('chain', [7], changes, key)).text()).toBe(receipt)
    expect(await platform.ended(id, 90_000)).toMatchObject({ status: 'completed', actual_cost_usd: 0 })
    expect(await shown(id)).toEqual([`7${'0'.repeat(80)}`])
    // The running task was started again; all others ran once.
    const attempts = (await done()).map((task) => task.attempts)
    expect(attempts).toHaveLength(8)
    expect(attempts.filter((count) => count > 1).length).toBeLessThanOrEqual(1)
  },
  180_000
)
