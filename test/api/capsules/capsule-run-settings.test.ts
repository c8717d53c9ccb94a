// Runs of capsules with other settings than the capsule's own: which are refused at once, and what their jobs get.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'

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

const withParams = (id: string, params: string) => run(id, `{"mode":"template","params":${params}}`)

async function capsuleOfJob(): Promise<string> {
  const jobId = await ada.submit(submission())
  await finishJob(db, jobId)
  return (await ada.post('/api/capsules/from-job', { job_id: jobId })).body.capsule_id
}

/** The parameters as text, in which `1.0` is a float. */
async function paramsOf(answer: ApiResponse): Promise<string | undefined> {
  const { text } = await ada.get(`/api/jobs/${answer.body.job_id}`)
  return /"params":(\{[^}]*\})/.exec(text)?.[1]
}

test('a run passes on floats as they are written, and keeps those of the capsule', async () => {
  const capsule = await capsuleOfJob()
  expect(await paramsOf(await withParams(capsule, '{"theta":1.0,"x":1e300,"n":7}'))).toBe(
    '{"shots":100,"theta":1.0,"x":1e300,"n":7}'
  )
  const text =
    '{"name":"Floats","workflow":{"tasks":[{"name":"one","backend":"local","parameters":{"shots":10,"y":3.0,"z":4.0}'
  const created = await ada.post('/api/capsules/create', `${text},"inline_code":${JSON.stringify(bellQasm3())}}]}}`)
  const floats = created.body.capsule_id
  expect(await paramsOf(await withParams(floats, '{"y":2.0}'))).toBe('{"shots":10,"y":2.0,"z":4.0}')
  expect(await paramsOf(await withParams(floats, '{"y":2,"z":5}'))).toBe('{"shots":10,"y":2,"z":5}')
})

test('a run is refused for an integer that could not be passed on exactly', async () => {
  const capsule = await capsuleOfJob()
  expect(errorOf(await withParams(capsule, '{"theta":1.0,"n":12345678901234567890}'))).toEqual([
    400,
    expect.stringMatching(/^params\.n: an integer beyond 9007199254740991 cannot be carried exactly/)
  ])
})
