// What goes wrong between this service and a provider: lost responses, late requests, dying workers. The emulator's
// ledger shows one paid provider job per job in every case.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { FaultOrder } from '../../../apps/emulators/faults.js'
import { settleHeld } from '../../../db/money/budget.js'
import { eventually } from '../../support/eventually.js'
import { longTest } from '../../support/lane.js'
import {
  LOOKUP_WINDOW_SECONDS,
  type ProviderPlatform,
  startProviderPlatform
} from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('provider-faults')
}, 90_000)

beforeEach(() => platform.ionq.reset())

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const submitting = { method: 'POST', path: '/jobs' }
/** Longer than a call may take, and shorter than look-ups continue. */
const late = 2_500

const faults: Record<string, FaultOrder> = {
  'the answer to the submission is lost': { match: submitting, kind: 'drop_after' },
  'the submission is accepted and answered with 503': { match: submitting, kind: 'status_after', status: 503 },
  'the submission is accepted and never answered': { match: submitting, kind: 'hang_after' },
  'the submission never arrives and is never answered': { match: submitting, kind: 'hang' },
  'the connection is lost and the submission accepted later': {
    ...{ match: submitting, kind: 'accept_late', lag_ms: late }
  },
  'the submission is refused for a while': { match: submitting, kind: 'status', status: 503, times: 2 },
  'too many requests at submission': { match: submitting, kind: 'status', status: 429, retry_after: 1, times: 2 },
  'the status cannot be asked for a while': { match: { method: 'GET' }, kind: 'status', status: 500, times: 3 },
  'the status is a word that nobody knows': { match: { method: 'GET' }, kind: 'unknown_status', times: 2 },
  'the result comes late': { match: { method: 'GET', path: '/jobs' }, kind: 'lag', lag_ms: 800, times: 3 }
}

test('every fault between service and provider: one paid provider job per job, and every job completes', async () => {
  const ids: Record<string, string> = {}
  for (const [name, fault] of Object.entries(faults)) {
    platform.ionq.fault(fault)
    ids[name] = await platform.submitPaid()
    await eventually(() => platform.ionq.faults().length === 0)
  }
  for (const [name, id] of Object.entries(ids)) {
    const { status, attempts, actual_cost_usd } = await platform.ended(id, 60_000)
    expect({ name, status, attempts, actual_cost_usd }).toEqual({
      name,
      status: 'completed',
      attempts: 1,
      actual_cost_usd: 1.3
    })
  }
  expect(platform.ionq.tasks()).toHaveLength(Object.keys(faults).length)
}, 120_000)

test('a submission whose response is lost is looked up by its token and not sent again', async () => {
  platform.ionq.fault({ match: submitting, kind: 'drop_after' })
  await platform.ended(await platform.submitPaid())
  expect(platform.ionq.requests().filter(({ method }) => method === 'POST')).toHaveLength(1)
}, 60_000)

test('a submission that did not arrive is sent again only after it was looked up for long enough', async () => {
  platform.ionq.fault({ match: submitting, kind: 'hang' })
  await platform.ended(await platform.submitPaid(), 60_000)
  const requests = platform.ionq.requests()
  const sent = requests.filter(({ method }) => method === 'POST').map(({ at }) => Date.parse(at))
  expect(sent).toHaveLength(2)
  expect(sent[1]! - sent[0]!).toBeGreaterThanOrEqual(LOOKUP_WINDOW_SECONDS * 1000)
  const lookUps = requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/jobs'))
  expect(lookUps.length).toBeGreaterThan(0)
}, 90_000)

longTest(
  'a worker killed while four jobs are each at another step: one paid provider job per job, and every job completes',
  async () => {
    platform.ionq.timing({ queueMs: 1_000, runMs: 0 })
    const steps: Record<string, FaultOrder> = {
      'it asks for the status': { match: { method: 'GET', path: '/jobs/' }, kind: 'hang' },
      'it fetches the result': { match: { method: 'GET', path: '/jobs/' }, kind: 'lag', lag_ms: 3_000, times: 2 },
      'its submission was accepted, and the answer is under way': { match: submitting, kind: 'hang_after' },
      'its submission has not arrived': { match: submitting, kind: 'hang' }
    }
    const ids: Record<string, string> = {}
    for (const [name, fault] of Object.entries(steps)) {
      platform.ionq.fault(fault)
      ids[name] = await platform.submitPaid()
      await eventually(() => platform.ionq.faults().length === 0)
    }
    await platform.kill('worker')
    await platform.start.worker()
    for (const [name, id] of Object.entries(ids)) {
      const { status, attempts, actual_cost_usd } = await platform.ended(id, 90_000)
      expect({ name, status, attempts, actual_cost_usd }).toEqual({
        name,
        status: 'completed',
        attempts: 1,
        actual_cost_usd: 1.3
      })
    }
    expect(platform.ionq.tasks()).toHaveLength(4)
  },
  150_000
)

longTest(
  "three days in the provider's queue, with a restart each day: one paid provider job, and a short history",
  async () => {
    platform.ionq.timing({ queueMs: 3 * 86_400_000, runMs: 60_000 })
    const id = await platform.submitPaid()
    await platform.accepted(id)
    expect(await platform.until(id, ({ queue }) => queue !== null)).toMatchObject({
      status: 'running',
      queue: { reason: 'provider_queue' }
    })
    for (let day = 0; day < 3; day++) {
      await platform.kill(day === 1 ? 'api' : 'worker')
      platform.ionq.advance(86_400_000)
      await (day === 1 ? platform.start.api() : platform.start.worker())
    }
    platform.ionq.advance(120_000)
    expect(await platform.ended(id, 60_000)).toMatchObject({ status: 'completed', attempts: 1 })
    expect(platform.ionq.tasks()).toHaveLength(1)
    const history = await platform.workflow(id, (handle) => handle.fetchHistory())
    expect(history.events!.length).toBeLessThan(100)
  },
  120_000
)

test.each<[string, Record<string, unknown>, string, RegExp]>([
  [
    'that the provider has no gate for',
    {
      payload:
        'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[1] q;\nbit[1] c;\nc[0] = measure q[0];\nreset q[0];\nx q[0];\n'
    },
    'unsupported_operation',
    /reset|after the measurement/
  ],
  [
    'that is too wide',
    { payload: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nconst uint n = 40;\nqubit[n] q;\nh q[0];\n' },
    'unsupported_operation',
    /36/
  ]
])(
  'a circuit %s fails before anything is sent, and costs nothing',
  async (_name, circuit, code, message) => {
    const id = await platform.submitPaid({ circuit: { format: 'qasm3', ...circuit } })
    const job = await platform.ended(id)
    expect(job).toMatchObject({ status: 'failed', error: { code }, actual_cost_usd: 0, attempts: 0 })
    expect(job.error!.message).toMatch(message)
    expect(platform.ionq.requests().filter(({ method }) => method === 'POST')).toEqual([])
  },
  60_000
)

test("credentials that the provider refuses fail the job with the provider's message, and cost nothing", async () => {
  platform.ionq.fault({ match: submitting, kind: 'status', status: 401 })
  const job = await platform.ended(await platform.submitPaid())
  expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_refused' }, actual_cost_usd: 0, attempts: 0 })
  expect(platform.ionq.tasks()).toEqual([])
}, 60_000)

longTest(
  'credentials that change while a response is lost: nothing is sent with the new ones, and the money is held',
  async () => {
    platform.ionq.fault({ match: submitting, kind: 'drop_after' })
    platform.ionq.fault({ match: { method: 'GET', path: '/jobs' }, kind: 'status', status: 503, times: 1000 })
    const id = await platform.submitPaid()
    await platform.paidTasks(1)
    await platform.storeCredentials()
    // Like another account, which does not have the job.
    platform.ionq.reset()
    const job = await platform.ended(id, 60_000)
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_outcome_unknown' }, actual_cost_usd: null })
    expect(platform.ionq.tasks()).toEqual([])
    await platform.connection.db.transaction((tx) => settleHeld(tx, id, 1_300_000n))
  },
  90_000
)
