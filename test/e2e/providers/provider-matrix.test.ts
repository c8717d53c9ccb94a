// The same promises at every provider: the counts of a local run, one paid provider job for each job whatever is lost or
// late, a cancel at each stage, and refusals before anything is sent. The emulators' ledgers show what was paid.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import type { ProviderName } from '../../../apps/emulators/emulators.js'
import type { FaultOrder } from '../../../apps/emulators/faults.js'
import { eventually } from '../../support/eventually.js'
import { everything, longTest, rowsOfLane } from '../../support/lane.js'
import type { JobRecord } from '../../support/stack/platform.js'
import { type ProviderPlatform, paidBackends, startProviderPlatform } from '../../support/stack/provider-platform.js'

interface Provider {
  name: ProviderName
  submitting: NonNullable<FaultOrder['match']>
  looking: NonNullable<FaultOrder['match']>
  fetching: NonNullable<FaultOrder['match']>
  /** The provider's word for a cancelled task. */
  cancelled: string
  /** Its programs can branch and reset. */
  midCircuit?: true
}

/** Of the emulated Azure. */
const workspace =
  '/subscriptions/00000000-e000-4000-8000-000000000001/resourceGroups/emulated-group' +
  '/providers/Microsoft.Quantum/workspaces/emulated-workspace'

const providers: Provider[] = [
  {
    name: 'ionq',
    submitting: { method: 'POST', path: '/jobs' },
    looking: { method: 'GET', path: '/jobs/' },
    fetching: { method: 'GET', path: '/jobs/' },
    cancelled: 'canceled'
  },
  {
    name: 'aws-braket',
    submitting: { method: 'POST', path: '/quantum-task' },
    looking: { method: 'GET', path: '/quantum-task/' },
    fetching: { method: 'GET', path: '/amazon-braket-emulated/' },
    cancelled: 'CANCELLED'
  },
  {
    name: 'azure-quantum',
    submitting: { method: 'PUT', path: `${workspace}/jobs/` },
    looking: { method: 'GET', path: `${workspace}/jobs/` },
    fetching: { method: 'GET', path: '/emulatedquantum/' },
    cancelled: 'Cancelled',
    midCircuit: true
  }
]

const DAY_MS = 86_400_000
const COST = 1.3

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('provider-matrix', { providers: providers.map(({ name }) => name) })
}, 120_000)

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const qasm = (text: string) => ({ format: 'qasm3', payload: `OPENQASM 3.0;\ninclude "stdgates.inc";\n${text}` })
const circuits: Record<string, { text: string; bits: string }> = {
  'an asymmetric circuit': { text: 'qubit[3] q;\nx q[0];\n', bits: '100' },
  'a circuit of nine qubits': { text: 'qubit[9] q;\nx q[0];\nx q[7];\n', bits: '100000010' },
  'a circuit with two crossed registers': {
    text:
      'qubit[5] q;\nbit[3] first;\nbit[2] second;\nx q[0];\nx q[3];\nfirst[0] = measure q[3];\n' +
      'first[1] = measure q[1];\nfirst[2] = measure q[2];\nsecond[0] = measure q[0];\nsecond[1] = measure q[4];\n',
    bits: '10010'
  },
  'a circuit that measures some of its qubits': {
    text: 'qubit[4] q;\nbit[2] c;\nx q[2];\nh q[0];\nc[0] = measure q[2];\nc[1] = measure q[1];\n',
    bits: '10'
  },
  'a rotation by a whole turn': { text: 'qubit[2] q;\nrx(pi) q[1];\nrz(0.3) q[0];\n', bits: '01' }
}

const script = `
from qiskit import QuantumCircuit

def main(shots):
    seen = []
    for n in range(2):
        circuit = QuantumCircuit(3)
        circuit.x(n)
        seen.append(device.run(circuit, shots))
    return {"seen": seen}
`

const graph = `
from marqov import task, workflow

@task
def sample(bit):
    from qiskit import QuantumCircuit
    circuit = QuantumCircuit(2)
    circuit.x(bit)
    return device.run(circuit, 100)

@task
def both(first, second):
    return {"first": first, "second": second}

@workflow
def pair():
    return both(sample(0), sample(1))
`

describe.each(providers)('$name', ({ name, submitting, looking, fetching, cancelled, midCircuit = false }) => {
  const control = () => platform.provider(name)
  const submit = (body: Record<string, unknown> = {}) => platform.submitPaid({ backend: paidBackends[name], ...body })
  const completed = async (id: string): Promise<JobRecord> => {
    const job = await platform.ended(id, 90_000)
    expect(job).toMatchObject({ status: 'completed', attempts: 1, actual_cost_usd: COST, error: null, emulated: true })
    return job
  }
  beforeEach(() => control().reset())

  test('the counts are those of a local run, in both modes', async () => {
    const modes = everything ? ['direct', 'temporal'] : ['temporal']
    const rows = Object.entries(circuits).flatMap(([title, row]) => modes.map((mode) => ({ title, mode, ...row })))
    const ids = await Promise.all(rows.map(({ text, mode }) => submit({ circuit: qasm(text), execution_mode: mode })))
    for (const [at, { title, mode, bits }] of rows.entries()) {
      const { counts, metadata } = (await completed(ids[at]!)).result!
      expect({ title, mode, counts }).toEqual({ title, mode, counts: { [bits]: 100 } })
      expect(metadata).toMatchObject({ bit_order: 'qubit 0 leftmost', shots_observed: 100, emulated: true })
    }
    expect(control().tasks()).toHaveLength(rows.length)
  }, 120_000)

  const faults: Record<string, FaultOrder> = {
    'the answer to the submission is lost': { match: submitting, kind: 'drop_after' },
    'the submission is accepted and answered with 503': { match: submitting, kind: 'status_after', status: 503 },
    'the submission is accepted and never answered': { match: submitting, kind: 'hang_after' },
    'the submission never arrives and is never answered': { match: submitting, kind: 'hang' },
    'the connection is lost and the submission accepted later': {
      match: submitting,
      kind: 'accept_late',
      lag_ms: 2_500
    },
    'the submission is refused for a while': { match: submitting, kind: 'status', status: 503, times: 2 },
    'too many requests at submission': { match: submitting, kind: 'status', status: 429, retry_after: 1, times: 2 },
    'the status cannot be read for a while': { match: looking, kind: 'status', status: 500, times: 3 },
    'the status is a word that no client knows': { match: looking, kind: 'unknown_status', times: 2 },
    'the result comes late': { match: fetching, kind: 'lag', lag_ms: 800, times: 3 }
  }

  test('every fault between service and provider: one paid provider job per job, and every job completes', async () => {
    const rows = rowsOfLane(Object.entries(faults), (_row, at) => at < 5)
    const ids: Record<string, string> = {}
    for (const [title, fault] of rows) {
      control().fault(fault)
      ids[title] = await submit()
      await eventually(() => control().faults().length === 0)
    }
    for (const id of Object.values(ids)) await completed(id)
    expect(control().tasks()).toHaveLength(rows.length)
  }, 150_000)

  test('a cancel in the queue of the provider is confirmed, and nothing is paid', async () => {
    control().timing({ queueMs: DAY_MS, runMs: 1_000 })
    const id = await submit()
    await platform.accepted(id)
    await platform.cancel(id)
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      cancel: { outcome: 'provider_confirmed' },
      actual_cost_usd: 0
    })
    expect(control().tasks()).toMatchObject([{ state: cancelled }])
  }, 60_000)

  longTest(
    'a cancel while the answer to the submission is lost: the provider job is found and cancelled',
    async () => {
      control().timing({ queueMs: DAY_MS, runMs: 1_000 })
      control().fault({ match: submitting, kind: 'hang_after' })
      const id = await submit()
      await platform.paidTasksAt(name, 1)
      await platform.cancel(id)
      expect(await platform.ended(id, 60_000)).toMatchObject({
        status: 'cancelled',
        cancel: { outcome: 'provider_confirmed' },
        actual_cost_usd: 0
      })
      expect(control().tasks()).toMatchObject([{ state: cancelled }])
    },
    90_000
  )

  test.each(
    rowsOfLane(
      [
        ['is too wide', 'const uint n = 300;\nqubit[n] q;\nh q[0];\n'],
        ['branches', 'qubit[2] q;\nbit[1] c;\nh q[0];\nc[0] = measure q[0];\nif (c[0]) x q[1];\n'],
        ['resets', 'qubit[1] q;\nbit[1] c;\nx q[0];\nreset q[0];\nc[0] = measure q[0];\n']
      ] as const,
      (_row, at) => at === (midCircuit ? 0 : 1)
    ).filter(([title]) => !midCircuit || title === 'is too wide')
  )(
    'a circuit that %s fails before anything is sent, and costs nothing',
    async (_title, text) => {
      const job = await platform.ended(await submit({ circuit: qasm(text) }))
      expect(job).toMatchObject({
        status: 'failed',
        error: { code: 'unsupported_operation' },
        actual_cost_usd: 0,
        attempts: 0
      })
      expect(control().tasks()).toEqual([])
    },
    60_000
  )

  test('no credential and no signature reaches a workflow history, a log or the database', async () => {
    const id = await submit()
    await completed(id)
    const history = await platform.workflow(id, (handle) => handle.fetchHistory())
    const rows = await platform.connection.db.execute(sql`
      select query_to_xml('select * from ' || quote_ident(tablename), true, true, '')::text as text
      from pg_tables where schemaname = 'public'`)
    const { api_key, secret_access_key, client_secret } = platform.credentialsOf(name)
    const kept = [JSON.stringify(history), platform.logs(), ...rows.map(({ text }) => String(text))].join('\n')
    const secret = api_key ?? secret_access_key ?? client_secret!
    // Of each provider: its signatures, tokens and signed addresses begin so.
    for (const one of [secret, 'AWS4-HMAC-SHA256', 'apiKey ', 'eyJ0eXAiOiJKV1Qi', 'sv=2023-11-03'])
      expect({ one, isKept: kept.includes(one) }).toEqual({ one, isKept: false })
  }, 90_000)

  test('each circuit of a script, and of the tasks of a graph, is paid once', async () => {
    const [one, other] = await Promise.all(
      [script, graph].map((inline_code) => submit({ circuit: undefined, inline_code }))
    )
    expect(await platform.ended(one!, 90_000)).toMatchObject({
      status: 'completed',
      result: { seen: [{ '100': 100 }, { '010': 100 }] },
      actual_cost_usd: 2 * COST
    })
    expect(await platform.ended(other!, 90_000)).toMatchObject({
      status: 'completed',
      result: { first: { '10': 100 }, second: { '01': 100 } },
      actual_cost_usd: 2 * COST
    })
    expect(control().tasks()).toHaveLength(4)
  }, 150_000)

  longTest(
    'three days in the queue with a restart each day: one paid provider job, and a short history',
    async () => {
      control().timing({ queueMs: 3 * DAY_MS, runMs: 60_000 })
      const id = await submit()
      await platform.accepted(id)
      for (let day = 0; day < 3; day++) {
        await platform.kill('worker')
        control().advance(DAY_MS)
        await platform.start.worker()
      }
      control().advance(120_000)
      await completed(id)
      expect(control().tasks()).toHaveLength(1)
      const history = await platform.workflow(id, (handle) => handle.fetchHistory())
      expect(history.events!.length).toBeLessThan(100)
    },
    150_000
  )
})
