// POST /api/playground/telemetry: what a browser's own simulation reports.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startApi, type TestUser } from '../../support/api/api.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { addTeam } from '../../support/jobs/rows.js'

const api = await startApi('telemetry')
const { db, sql } = api.database
afterAll(() => api.close())

let ada: TestUser
let teamId: string
beforeAll(async () => {
  ada = await api.signUp()
  teamId = await addTeam(db, { userId: ada.id, email: ada.email })
})
const report = (changes: Record<string, unknown> = {}) => ({
  session_id: 'tab-1',
  team_id: teamId,
  simulator: 'qulacs-wasm',
  qasm_input: bellQasm3(),
  shots: 100,
  qubit_count: 2,
  gate_count: 2,
  execution_time_ms: 1.25,
  counts: { '00': 51, '11': 49 },
  source_framework: 'qasm',
  user_agent: 'a browser',
  ...changes
})
const send = (changes?: Record<string, unknown>) => ada.post('/api/playground/telemetry', report(changes))

test('a report of a simulation in the browser is recorded', async () => {
  const answer = await send()
  expect([answer.status, answer.body]).toEqual([201, { success: true }])
  const rows = await sql`select * from playground_telemetry where team_id = ${teamId}`
  expect([...rows]).toEqual([
    expect.objectContaining({
      user_id: ada.id,
      session_id: 'tab-1',
      simulator: 'qulacs-wasm',
      simulator_version: null,
      source_framework: 'qasm',
      qasm_input: bellQasm3(),
      shots: 100,
      qubit_count: 2,
      gate_count: 2,
      execution_time_ms: 1.25,
      counts: { '00': 51, '11': 49 },
      user_agent: 'a browser'
    })
  ])
})

test("a report names the console's own simulator, and the version of any", async () => {
  const named = { session_id: 'tab-2', simulator: 'statevector-js', simulator_version: '1.4.0' }
  expect((await send(named)).status).toBe(201)
  expect((await send({ session_id: 'tab-2', simulator: 'quantum-circuit', simulator_version: '0.9.250' })).status).toBe(
    201
  )
  const rows =
    await sql`select simulator, simulator_version from playground_telemetry where session_id = 'tab-2' order by id`
  expect([...rows]).toEqual([
    { simulator: 'statevector-js', simulator_version: '1.4.0' },
    { simulator: 'quantum-circuit', simulator_version: '0.9.250' }
  ])
})

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))
test('a report is accepted with fields at their limits, in a body of up to 512 KiB', async () => {
  const least = { shots: 1, qubit_count: 1, gate_count: 0, execution_time_ms: 0, counts: {}, qasm_input: '' }
  const optional = { source_framework: undefined, user_agent: undefined }
  expect((await send({ ...least, ...optional, simulator: 'quantum-circuit' })).status).toBe(201)
  const most = { shots: 100_000, qubit_count: 50, gate_count: 10_000, counts: keys(10_000) }
  const texts = { qasm_input: 'x'.repeat(100_000), user_agent: '🔑'.repeat(500) }
  expect((await send({ ...most, ...texts })).status).toBe(201)
})

test.each([
  ...Object.keys(report())
    .filter((name) => !['source_framework', 'user_agent'].includes(name))
    .map((name) => [{ [name]: undefined }, `${name}: is required`] as [object, string]),
  [{ session_id: 5 }, 'session_id: must be a string'],
  [{ team_id: 'x' }, 'team_id: must be a valid uuid'],
  [{ simulator: 'aer' }, 'simulator: must be one of quantum-circuit, qulacs-wasm, statevector-js'],
  [{ simulator_version: '' }, 'simulator_version: must be a string of 1 to 100 characters'],
  [{ simulator_version: 'x'.repeat(101) }, 'simulator_version: must be'],
  [{ simulator_version: 1 }, 'simulator_version: must be a string'],
  [{ shots: 0 }, 'shots: must be an integer from 1 to 100000'],
  [{ shots: 100_001 }, 'shots: must be'],
  [{ qubit_count: 0 }, 'qubit_count: must be an integer from 1 to 50'],
  [{ qubit_count: 51 }, 'qubit_count: must be'],
  [{ gate_count: -1 }, 'gate_count: must be an integer from 0 to 10000'],
  [{ gate_count: 10_001 }, 'gate_count: must be'],
  [{ execution_time_ms: -1 }, 'execution_time_ms: must be a number at least 0'],
  [{ execution_time_ms: '1' }, 'execution_time_ms: must be a number'],
  [{ counts: [] }, 'counts: must be an object'],
  [{ counts: { up: '1' } }, 'counts.up: must be an integer'],
  [{ counts: { ['1'.repeat(257)]: 1 } }, 'counts'],
  [{ source_framework: 'openqasm' }, 'source_framework: must be one of qiskit, cirq, pennylane, qasm'],
  [{ qasm_input: 'x'.repeat(100_001) }, 'qasm_input: must be a string of at most 100000 characters'],
  [{ user_agent: 'x'.repeat(501) }, 'user_agent: must be a string of at most 500 characters'],
  [{ other: 1 }, 'other: is not a field of this request']
] as [Record<string, unknown>, string][])(
  'an invalid report is refused by the name of its field (%#)',
  async (changes, message) => {
    const { status, body } = await send(changes)
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)])
  }
)

test('a report above 512 KiB is refused', async () => {
  expect((await send({ qasm_input: 'x'.repeat(512 * 1024) })).status).toBe(413)
})

test('a report for a team of others is 404, and for a suspended one 403', async () => {
  const other = await api.signUp()
  const theirs = await addTeam(db, { userId: other.id, email: other.email })
  expect((await send({ team_id: theirs })).status).toBe(404)
  expect((await send({ team_id: '01900000-0000-7000-8000-000000000000' })).status).toBe(404)
  const suspended = await addTeam(db, { userId: ada.id, email: ada.email })
  await sql`update teams set suspended_at = now() where id = ${suspended}`
  const answer = await send({ team_id: suspended })
  expect([answer.status, answer.body.code]).toEqual([403, 'TEAM_SUSPENDED'])
})

test('a report needs a session', async () => {
  expect((await api.ask('POST', '/api/playground/telemetry', report())).status).toBe(401)
})
