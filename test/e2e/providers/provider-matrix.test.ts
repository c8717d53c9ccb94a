// The same promises at every provider: the counts of a local run, one paid provider job for each job whatever is lost or
// late, and refusals before anything is sent. The emulators' ledgers show what was paid.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import type { FaultOrder } from '../../../apps/emulators/faults.js'
import { eventually } from '../../support/eventually.js'
import { everything, longTest, rowsOfLane, testOfRow } from '../../support/lane.js'
import type { JobRecord } from '../../support/stack/platform.js'
import {
  LOOKUP_WINDOW_SECONDS,
  type ProviderPlatform,
  startProviderPlatform
} from '../../support/stack/provider-platform.js'
import { isFirst, type Provider, providers, requestsTo, titleOf } from '../../support/stack/provider-rows.js'

const DAY_MS = 86_400_000
const COST = 1.3

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('provider-matrix', { providers: providers.map(({ name }) => name) })
}, 240_000)

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const qasm = (text: string) => ({ format: 'qasm3', payload: `OPENQASM 3.0;\ninclude "stdgates.inc";\n${text}` })
const circuits = [
  { title: 'an asymmetric circuit', text: 'qubit[3] q;\nx q[0];\n', bits: '100' },
  { title: 'a circuit of nine qubits', text: 'qubit[9] q;\nx q[0];\nx q[7];\n', bits: '100000010' },
  {
    title: 'a circuit with two crossed registers',
    text:
      'qubit[5] q;\nbit[3] first;\nbit[2] second;\nx q[0];\nx q[3];\nfirst[0] = measure q[3];\n' +
      'first[1] = measure q[1];\nfirst[2] = measure q[2];\nsecond[0] = measure q[0];\nsecond[1] = measure q[4];\n',
    bits: '10010'
  },
  {
    title: 'a circuit that measures some of its qubits',
    text: 'qubit[4] q;\nbit[2] c;\nx q[2];\nh q[0];\nc[0] = measure q[2];\nc[1] = measure q[1];\n',
    bits: '10'
  },
  { title: 'a rotation by a whole turn', text: 'qubit[2] q;\nrx(pi) q[1];\nrz(0.3) q[0];\n', bits: '01' }
]

/** The fault of a request, and the mode of the job if it is not `direct`. */
type FaultRow = readonly [title: string, fault: FaultOrder, mode?: 'temporal']

const faultsOf = ({ submitting, looking, fetching }: Provider): FaultRow[] => [
  ['the answer to the submission is lost', { match: submitting, kind: 'drop_after' }],
  ['the submission is accepted and answered with 503', { match: submitting, kind: 'status_after', status: 503 }],
  ['the submission is accepted and never answered', { match: submitting, kind: 'hang_after' }],
  ['the submission never arrives and is never answered', { match: submitting, kind: 'hang' }],
  [
    'the connection is lost and the submission accepted later',
    { match: submitting, kind: 'accept_late', lag_ms: 1_500 }
  ],
  ['the submission is refused for a while', { match: submitting, kind: 'status', status: 503, times: 2 }],
  ['too many requests', { match: submitting, kind: 'status', status: 429, retry_after: 1, times: 2 }],
  [
    'the connection is lost and the submission of a durable job accepted later',
    { match: submitting, kind: 'accept_late', lag_ms: 1_500 },
    'temporal'
  ],
  ['the status cannot be read for a while', { match: looking, kind: 'status', status: 500, times: 3 }],
  ['the status is a word that no client knows', { match: looking, kind: 'unknown_status', times: 2 }],
  ['the result comes late', { match: fetching, kind: 'lag', lag_ms: 800, times: 3 }]
]
/** As many as the short lane runs at the providers after the first. */
const FAULTS_SHORT = 2

const unsupported = [
  ['branches', 'qubit[2] q;\nbit[1] c;\nh q[0];\nc[0] = measure q[0];\nif (c[0]) x q[1];\n', /measured bit/],
  ['is too wide', 'const uint n = 300;\nqubit[n] q;\nh q[0];\n', /300 qubits.* has \d+/],
  [
    'continues after a measurement',
    'qubit[1] q;\nbit[1] c;\nc[0] = measure q[0];\nreset q[0];\nx q[0];\n',
    /reset|after the measurement/
  ],
  ['resets', 'qubit[1] q;\nbit[1] c;\nx q[0];\nreset q[0];\nc[0] = measure q[0];\n', /reset/]
] as const

describe.each(providers)('$name', (provider) => {
  const { name, submitting, finding, looking, fetching, device, refusesOffline, retiredCode } = provider
  const oftenTest = testOfRow(isFirst(provider))
  const control = () => platform.provider(name)
  const submit = (body?: Record<string, unknown>) => platform.submitAt(name, body)
  const completed = async (id: string): Promise<JobRecord> => {
    const job = await platform.ended(id)
    expect(job).toMatchObject({
      status: 'completed',
      provider: titleOf(provider),
      attempts: 1,
      estimated_cost_usd: COST,
      actual_cost_usd: COST,
      error: null,
      emulated: true,
      workflow: { id: `job-${id}` }
    })
    return job
  }
  beforeEach(() => control().reset())

  test('the counts are those of a local run, in both modes, and each job costs its price', async () => {
    const before = await platform.money()
    const rows = circuits.flatMap((row, at) =>
      (everything || at === 0 ? ['direct', 'temporal'] : ['temporal']).map((mode) => ({ mode, ...row }))
    )
    const ids = await Promise.all(rows.map(({ text, mode }) => submit({ circuit: qasm(text), execution_mode: mode })))
    for (const [at, { title, mode, bits }] of rows.entries()) {
      const { result, execution_mode } = await completed(ids[at]!)
      const { counts, metadata } = result!
      expect({ title, mode: execution_mode, counts }).toEqual({ title, mode, counts: { [bits]: 100 } })
      expect(metadata).toMatchObject({
        bit_order: 'qubit 0 leftmost',
        count_source: expect.stringMatching(/^provider_(counts|measurements)$/),
        shots_requested: 100,
        shots_observed: 100,
        emulated: true
      })
    }
    expect(control().tasks()).toHaveLength(rows.length)
    const { spent } = await platform.money()
    expect(spent - before.spent).toBeCloseTo(rows.length * COST, 6)
  }, 240_000)

  test('every fault between service and provider: one paid provider job per job, and every job completes', async () => {
    const rows = rowsOfLane(faultsOf(provider), (_row, at) => isFirst(provider) || at < FAULTS_SHORT)
    const ids: string[] = []
    for (const [, fault, execution_mode = 'direct'] of rows) {
      await eventually(() => control().faults().length === 0, { timeoutMs: 90_000 })
      control().fault(fault)
      ids.push(await submit({ execution_mode }))
    }
    for (const id of ids) await completed(id)
    const met = new Set(
      control()
        .requests()
        .map(({ fault }) => fault)
    )
    expect(rows.filter(([, { kind }]) => !met.has(kind))).toEqual([])
    expect(control().tasks()).toHaveLength(rows.length)
  }, 240_000)

  if (finding) {
    oftenTest(
      'a submission whose response is lost is looked up by its token and not sent again',
      async () => {
        control().fault({ match: submitting, kind: 'drop_after' })
        await completed(await submit())
        expect(requestsTo(control().requests(), submitting)).toHaveLength(1)
        expect(requestsTo(control().requests(), finding)).not.toHaveLength(0)
      },
      240_000
    )

    oftenTest(
      'a submission that did not arrive is sent again only after it was looked up for long enough',
      async () => {
        control().fault({ match: submitting, kind: 'hang' })
        const id = await submit()
        await completed(id)
        const sent = requestsTo(control().requests(), submitting).map(({ at }) => Date.parse(at))
        expect(sent).toHaveLength(2)
        // The time counts from before the first request, which can take a while to arrive.
        const [row] = await platform.connection.db.execute<{ intended: number }>(
          sql`select extract(epoch from created_at)::float8 * 1000 as intended from provider_tasks where job_id = ${id}`
        )
        expect(sent[1]! - row!.intended).toBeGreaterThanOrEqual(LOOKUP_WINDOW_SECONDS * 1000)
        expect(requestsTo(control().requests(), finding)).not.toHaveLength(0)
      },
      240_000
    )
  }

  longTest(
    'a worker killed while four jobs are each at another step: one paid provider job per job, and every job completes',
    async () => {
      control().timing({ queueMs: 1_000, runMs: 0 })
      const steps: Record<string, FaultOrder> = {
        'it asks for the status': { match: looking, kind: 'hang' },
        'it fetches the result': { match: fetching, kind: 'lag', lag_ms: 60_000, times: 2 },
        'its submission was accepted, and the answer is under way': { match: submitting, kind: 'hang_after' },
        'its submission has not arrived': { match: submitting, kind: 'hang' }
      }
      const ids: string[] = []
      for (const fault of Object.values(steps)) {
        control().fault(fault)
        ids.push(await submit())
        await eventually(() => control().faults().length === 0, { timeoutMs: 90_000 })
      }
      await platform.kill('worker')
      await platform.start.worker()
      for (const id of ids) await completed(id)
      expect(control().tasks()).toHaveLength(ids.length)
    },
    240_000
  )

  test.each(
    rowsOfLane(
      unsupported.filter(([title]) => !provider.permits?.some((permitted) => permitted === title)),
      (_row, at) => isFirst(provider) || at === 0
    )
  )(
    'a circuit that %s fails before anything is sent, and costs nothing',
    async (_title, text, message) => {
      const job = await platform.ended(await submit({ circuit: qasm(text) }))
      expect(job).toMatchObject({
        status: 'failed',
        error: { code: 'unsupported_operation', message: expect.stringMatching(message) },
        actual_cost_usd: 0,
        attempts: 0
      })
      expect(requestsTo(control().requests(), submitting)).toEqual([])
    },
    240_000
  )

  oftenTest(
    "credentials that the provider refuses fail the job with the provider's message, and cost nothing",
    async () => {
      control().fault({ match: submitting, kind: 'status', status: 401, times: 10 })
      const job = await platform.ended(await submit())
      expect(job).toMatchObject({
        status: 'failed',
        error: { code: 'provider_refused', message: expect.stringContaining(titleOf(provider)) },
        actual_cost_usd: 0,
        attempts: 0
      })
      expect(control().tasks()).toEqual([])
    },
    240_000
  )

  const steer = (status: 'online' | 'offline' | 'retired') => control().device(device.name, device[status])
  /** Sent while the device is offline: where that is possible, it waits at the provider, and else here. */
  async function submittedOffline(): Promise<string> {
    const id = await submit({ backend: device.backend })
    if (refusesOffline) await platform.queueMessage(id, /offline/i)
    else await platform.accepted(id)
    return id
  }

  longTest(
    'a device that goes offline holds jobs, which complete when it is back, and each is paid once',
    async () => {
      control().timing({ queueMs: DAY_MS / 2, runMs: 0 })
      const sent = await submit({ backend: device.backend })
      await platform.accepted(sent)
      await platform.keepMachines(name)
      steer('offline')
      const held = await submittedOffline()
      control().advance(DAY_MS)
      const looks = () => requestsTo(control().requests(), looking).length
      const before = looks()
      await eventually(() => looks() > before, { timeoutMs: 90_000 })
      for (const id of [sent, held]) expect((await platform.job(id)).status).toBe('running')
      steer('online')
      await platform.accepted(held)
      control().advance(DAY_MS)
      for (const id of [sent, held])
        expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
      expect(control().tasks()).toHaveLength(2)
    },
    240_000
  )

  longTest(
    'a device that is retired while jobs wait for it: none is paid, whether it was sent already or not',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      const sent = await submit({ backend: device.backend })
      await platform.accepted(sent)
      await platform.keepMachines(name)
      steer('offline')
      const held = await submittedOffline()
      steer('retired')
      const late = await submit({ backend: device.backend })
      const unsent = { status: 'failed', error: { code: retiredCode }, actual_cost_usd: 0, attempts: 0 }
      const lost = {
        status: 'failed',
        error: { code: 'provider_failed', message: expect.stringMatching(/retired/) },
        actual_cost_usd: 0
      }
      expect(await platform.ended(sent)).toMatchObject(lost)
      expect(await platform.ended(held)).toMatchObject(refusesOffline ? unsent : lost)
      expect(await platform.ended(late)).toMatchObject(unsent)
      expect(control().tasks()).toHaveLength(refusesOffline ? 1 : 2)
    },
    240_000
  )
})
