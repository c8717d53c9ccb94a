// Runs of capsules with other settings than the capsule's own: which are refused at once, and what their jobs get.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'

const api = await startApi('capsule_run_settings')
const { db } = api.database
afterAll(() => api.close())

let ada: TestUser
beforeEach(async () => {
  ada = await api.signUpWithTeam()
})

/** A draft with one task on a backend that is wide enough. @returns its id. */
async function draft(task: Record<string, unknown>): Promise<string> {
  const tasks = [{ name: 'one', backend: 'aer-statevector', parameters: { shots: 10 }, ...task }]
  const answer = await ada.post('/api/capsules/create', { name: 'Suite', workflow: { tasks } })
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.text}`)
  return answer.body.capsule_id
}

/** @param body a value, or its JSON text. */
const run = (id: string, body: unknown) => ada.post(`/api/capsules/${id}/run`, body)
const errorOf = ({ status, body }: ApiResponse) => [status, body.error]

test('a run is refused where the program is too wide for the backend, naming one that fits', async () => {
  const wide = (qubits: number, more: object = {}) =>
    draft({ inline_code: `OPENQASM 3.0;\nqubit[${qubits}] q;\n`, ...more })
  const onLocal = { mode: 'template', backend: 'local' }
  const tooWide = 'backend: the circuit has 26 qubits, local takes at most 25; aer-statevector takes 28'
  const capsule = await wide(26)
  expect(errorOf(await run(capsule, onLocal))).toEqual([400, tooWide])
  expect((await ada.get(`/api/jobs?capsule_id=${capsule}`)).body.total).toBe(0)
  const { body } = await ada.get(`/api/capsules/${await wide(26, { backend: 'local' })}`)
  expect(body.can.run).toBe(tooWide)

  const { body: made } = await ada.post('/api/scripts/upload', {
    name: 'Wide',
    script_content: 'from qiskit import QuantumCircuit\n\ncircuit = QuantumCircuit(26)\ncircuit.measure_all()\n'
  })
  await db.execute(
    sql`update script_versions set metadata = metadata || '{"qubits":26}' where script_id = ${made.script_id}`
  )
  expect(errorOf(await run(await draft({ script_id: made.script_id }), onLocal))).toEqual([400, tooWide])
})

test('a run is refused that asks for a state vector which no backend returns', async () => {
  const vector = { mode: 'template', backend: 'local', params: { extract_state_vector: true } }
  const wide = (qubits: number) => draft({ inline_code: `OPENQASM 3.0;\nqubit[${qubits}] q;\n` })
  expect(errorOf(await run(await wide(21), vector))).toEqual([
    400,
    'params.extract_state_vector: a state vector has at most 20 qubits (the circuit has 21)'
  ])
  expect((await run(await wide(20), vector)).status).toBe(201)
})
