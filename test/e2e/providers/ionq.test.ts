// What is particular to IonQ: a simulator that returns probabilities, and credentials that do not name their account.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { settleHeld } from '../../../db/money/budget.js'
import { eventually } from '../../support/eventually.js'
import { longTest } from '../../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('ionq')
}, 240_000)

beforeEach(() => platform.ionq.reset())

afterAll(() => platform.close())

const asymmetric = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[3] q;\nx q[0];\n'
const twoRegisters =
  'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[5] q;\nbit[3] first;\nbit[2] second;\nx q[0];\nx q[3];\n' +
  'first[0] = measure q[3];\nfirst[1] = measure q[1];\nfirst[2] = measure q[2];\nsecond[0] = measure q[0];\nsecond[1] = measure q[4];\n'

test.each([
  ['an asymmetric circuit', asymmetric, '100'],
  ['a circuit with two registers', twoRegisters, '10010']
])(
  "%s has on IonQ's simulator the counts of the local one, computed from its probabilities",
  async (_name, payload, bits) => {
    const body = { circuit: { format: 'qasm3', payload }, params: { shots: 50 } }
    const [there, here] = await Promise.all([
      platform.submitPaid({ ...body, backend: 'ionq-direct-simulator' }),
      platform.submitPaid({ ...body, backend: 'local' })
    ])
    expect(await platform.ended(here)).toMatchObject({ status: 'completed', result: { counts: { [bits]: 50 } } })
    expect(await platform.ended(there)).toMatchObject({
      status: 'completed',
      result: { counts: { [bits]: 50 }, metadata: { count_source: 'probability_derived' } },
      actual_cost_usd: 0
    })
  },
  240_000
)

longTest(
  'credentials that change while a response is lost: nothing is sent with the new ones, and the money is held',
  async () => {
    const hide = () =>
      platform.ionq.fault({ match: { method: 'GET', path: '/jobs' }, kind: 'status', status: 503, times: 1_000_000 })
    const lookUps = () => platform.ionq.requests().filter(({ fault }) => fault === 'status').length
    platform.ionq.fault({ match: { method: 'POST', path: '/jobs' }, kind: 'drop_after' })
    hide()
    const id = await platform.submitPaid()
    await platform.paidTasks(1)
    await platform.storeCredentials()
    // Like another account, which does not have the job. One look-up can still be under way with the first credentials.
    platform.ionq.reset()
    hide()
    await eventually(() => lookUps() >= 2)
    platform.ionq.clearFaults()
    const job = await platform.ended(id)
    expect(job).toMatchObject({ status: 'failed', error: { code: 'provider_outcome_unknown' }, actual_cost_usd: null })
    expect(platform.ionq.tasks()).toEqual([])
    await platform.connection.db.transaction((tx) => settleHeld(tx, id, 1_300_000n))
    expect(await platform.mismatches()).toEqual([])
    expect((await platform.budget()).day.reserved_usd).toBe(0)
  },
  240_000
)
