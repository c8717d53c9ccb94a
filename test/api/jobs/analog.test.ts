// Analog programs (circuit.format ahs): which backends take them, what is refused by name, and what a record keeps.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { declareProviders } from '../../../db/backends/provider-workers.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { analogProgram } from '../../support/jobs/analog.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('analog')
const { db, sql } = api.database
afterAll(() => api.close())

let ada: TestUser & { teamId: string }
beforeAll(async () => {
  ada = await api.signUpWithTeam()
  const secrets = { team_id: ada.teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } }
  expect((await ada.post('/api/team/secrets', secrets)).status).toBe(201)
  await ada.ask('PATCH', '/api/team/budget', { team_id: ada.teamId, daily_usd: 500, monthly_usd: 500 })
})
beforeEach(async () => {
  await sql`update backends set provider = 'AWS Braket', status = 'offline' where slug = 'quera-aquila'`
})

/** As if a worker served the machine's provider. */
async function serveAquila(): Promise<void> {
  await declareProviders(db, ['IonQ'])
  await sql`update backends set provider = 'IonQ', status = 'online' where slug = 'quera-aquila'`
}

const analog = (changes: Record<string, unknown> = {}, payload = analogProgram()) =>
  submission({
    inline_code: undefined,
    framework: undefined,
    circuit: { format: 'ahs', payload },
    backend: 'quera-aquila',
    ...changes
  })

test.each<[string, Record<string, unknown>, string]>([
  [
    'an analog program on a simulator',
    analog({ backend: 'local' }),
    'backend: local runs circuits, not analog programs'
  ],
  ['one on a machine of gates', analog({ backend: 'sv1' }), 'backend: sv1 runs circuits, not analog programs'],
  ['a circuit on atoms', submission({ backend: 'quera-aquila' }), 'backend: quera-aquila runs analog programs'],
  ['no analog program', analog({}, 'OPENQASM 3.0;'), 'circuit.payload: an analog program (ahs) is JSON with'],
  ['observables', analog({ params: { shots: 1, observables: ['ZZ'] } }), 'params.observables: an analog program'],
  ['a sweep', analog({ params: { shots: 1, points: [{}, {}] } }), 'params.points: an analog program (ahs) does not'],
  ['a framework', analog({ framework: 'openqasm' }), 'framework: an analog program (ahs) has none'],
  [
    'several',
    submission({
      inline_code: undefined,
      framework: undefined,
      backend: 'quera-aquila',
      circuits: [{ format: 'ahs', payload: analogProgram() }]
    }),
    'circuits[0].format: must be one of qasm2, qasm3'
  ]
])('%s is refused by name, before any other state of the backend', async (_what, body, message) => {
  const jobs = async () => (await ada.get('/api/jobs')).body.total
  const before = await jobs()
  const { status, body: answer } = await ada.post('/api/jobs/submit', body)
  expect([status, answer.error]).toEqual([400, expect.stringContaining(message)])
  expect(await jobs()).toBe(before)
})

test('a right one meets the reasons why its backend is unavailable', async () => {
  const { status, body } = await ada.post('/api/jobs/submit', analog())
  expect([status, body.error]).toEqual([400, 'backend: quera-aquila is offline; see the list of backends'])
})

test('auto sends neither kind to a machine of the other', async () => {
  const none = await ada.post('/api/jobs/submit', analog({ backend: 'auto' }))
  expect([none.status, none.body.error]).toEqual([400, expect.stringContaining('it takes no analog programs')])
  await serveAquila()
  const id = await ada.submit(analog({ backend: 'auto' }))
  const { backend, choice } = (await ada.get(`/api/jobs/${id}`)).body
  expect([backend, choice.chosen]).toEqual(['quera-aquila', 'quera-aquila'])
  expect(choice.candidates.filter(({ usable }: { usable: boolean }) => usable)).toHaveLength(1)
  const gates = await ada.submit(submission({ backend: 'auto' }))
  const other = (await ada.get(`/api/jobs/${gates}`)).body.choice.candidates.find(
    (one: { backend: string }) => one.backend === 'quera-aquila'
  )
  expect(other).toMatchObject({ usable: false, reason: expect.stringContaining('it takes no circuits') })
})

test('a recorded one keeps its text, and its sites are its width', async () => {
  await serveAquila()
  const text = ` ${analogProgram()}\n`
  const id = await ada.submit(analog({}, text))
  const job = (await ada.get(`/api/jobs/${id}`)).body
  expect(job).toMatchObject({
    framework: 'ahs',
    source: { kind: 'circuit', sha256: createHash('sha256').update(text).digest('hex') }
  })
  expect((await ada.get(`/api/jobs/${id}/source`)).text).toBe(text)
  const again = (await ada.post(`/api/jobs/${id}/rerun`)).body.job_id
  expect((await ada.get(`/api/jobs/${again}/source`)).text).toBe(text)
  const sites = Array.from({ length: 257 }, (_, index) => [`${index}e-5`, '0'])
  const wide = await ada.post('/api/jobs/submit', analog({}, analogProgram({ sites })))
  expect(wide.body.error).toBe('backend: the analog program has 257 sites, quera-aquila takes at most 256')
})

test('a capsule of one keeps it as a circuit, and runs it on machines of its kind only', async () => {
  await serveAquila()
  const text = analogProgram()
  const jobId = await ada.submit(analog({}, text))
  const counts = { gr: 51, rg: 40, er: 8 }
  const metadata = { bit_order: 'site order', count_source: 'provider_measurements', shots_observed: 99 }
  await finishJob(db, jobId, JSON.stringify({ counts, shots: 100, circuit_info: { num_qubits: 2 }, metadata }), [])
  const { capsule_id: id } = (await ada.post('/api/capsules/from-job', { job_id: jobId })).body
  const capsule = (await ada.get(`/api/capsules/${id}`)).body
  expect(capsule.script).toMatchObject({ framework: 'ahs', circuit: { format: 'ahs', payload: text } })
  expect(capsule.evidence.artifacts.map(({ name }: { name: string }) => name)).toContain('tasks/main/source.json')
  const run = (body: object) => ada.post(`/api/capsules/${id}/run`, { mode: 'template', ...body })
  expect((await run({ backend: 'local' })).body.error).toContain('backend: local runs circuits, not analog programs')
  const observed = await run({ params: { observables: ['ZZ'] } })
  expect(observed.body.error).toContain('params.observables: an analog program (ahs) does not take it')
  expect((await run({})).status).toBe(201)
  // The counts of both are states of sites, and those of bits are no counterpart.
  const again = await ada.submit(analog({}, text))
  await finishJob(db, again, JSON.stringify({ counts, shots: 100, metadata }), [])
  const bits = await ada.submit(submission())
  await finishJob(db, bits)
  const verdictOf = async (other: string) => (await ada.post('/api/jobs/compare', { a: jobId, b: other })).body
  expect((await verdictOf(again)).circuits[0]).toMatchObject({ n: 99, m: 99, counts: expect.any(Array) })
  expect((await verdictOf(again)).reason).not.toContain('bit orders')
  expect((await verdictOf(bits)).reason).toContain("the bit orders differ: 'site order'")
})
