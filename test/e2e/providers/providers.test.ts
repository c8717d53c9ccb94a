// Jobs at an emulated provider: the counts equal those of a local run, and each job is paid once whatever is lost or
// killed.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('providers')
}, 90_000)

beforeEach(() => platform.ionq.reset())

afterAll(() => platform.close())

const asymmetric = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[3] q;\nx q[0];\n'
const twoRegisters =
  'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[5] q;\nbit[3] first;\nbit[2] second;\nx q[0];\nx q[3];\n' +
  'first[0] = measure q[3];\nfirst[1] = measure q[1];\nfirst[2] = measure q[2];\nsecond[0] = measure q[0];\nsecond[1] = measure q[4];\n'

test.each(['direct', 'temporal'])(
  'a paid job of mode %s runs once, as a workflow, and costs its price',
  async (execution_mode) => {
    const before = await platform.budget()
    const id = await platform.submitPaid({ execution_mode })
    const job = await platform.ended(id)
    expect(job).toMatchObject({
      status: 'completed',
      execution_mode,
      provider: 'IonQ',
      attempts: 1,
      estimated_cost_usd: 1.3,
      actual_cost_usd: 1.3,
      workflow: { id: `job-${id}` }
    })
    expect(job.result!.metadata).toMatchObject({
      bit_order: 'qubit 0 leftmost',
      count_source: 'provider_counts',
      shots_requested: 100,
      shots_observed: 100
    })
    expect(Object.keys(job.result!.counts).sort()).toEqual(['00', '11'])
    expect(platform.ionq.tasks()).toHaveLength(1)
    const { day } = await platform.budget()
    expect(day.spent_usd - before.day.spent_usd).toBeCloseTo(1.3, 6)
    expect(day.reserved_usd).toBe(before.day.reserved_usd)
    expect(await platform.mismatches()).toEqual([])
  },
  60_000
)

test.each([
  ['an asymmetric circuit', asymmetric, '100'],
  ['a circuit with two registers', twoRegisters, '10010']
])(
  '%s returns the counts of the local simulator',
  async (_name, payload, bits) => {
    const body = { circuit: { format: 'qasm3', payload }, params: { shots: 50 } }
    const [there, simulated, here] = await Promise.all([
      platform.submitPaid(body),
      platform.submitPaid({ ...body, backend: 'ionq-direct-simulator' }),
      platform.submitPaid({ ...body, backend: 'local' })
    ])
    for (const id of [there, simulated, here])
      expect(await platform.ended(id)).toMatchObject({ status: 'completed', result: { counts: { [bits]: 50 } } })
  },
  60_000
)

test('no credential reaches a workflow history, the log or the database', async () => {
  const id = await platform.submitPaid()
  await platform.ended(id)
  const history = await platform.workflow(id, (handle) => handle.fetchHistory())
  const rows = await platform.connection.db.execute(sql`
    select query_to_xml('select * from ' || quote_ident(tablename), true, true, '')::text as text
    from pg_tables where schemaname = 'public'`)
  const { api_key: key } = platform.credentials
  for (const text of [JSON.stringify(history), platform.logs(), ...rows.map((row) => String(row.text))])
    expect(text).not.toContain(key)
}, 60_000)
