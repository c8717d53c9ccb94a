// GET /api/jobs/:id/artifacts and /artifacts/:name: the files that a run produced in addition to its result.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { beginJob, completeJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import type { Artifact } from '../../../db/jobs/artifacts.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'
import { executeToEnd } from '../../support/jobs/executed.js'

const api = await startApi('artifacts')
const { db } = api.database
afterAll(() => api.close())

const fence = { generation: 1 }
const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256))
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')
const files: Artifact[] = [
  { name: 'state_vector.npy', mediaType: 'application/octet-stream', content: bytes },
  { name: 'circuit.qasm', mediaType: 'text/plain; charset=utf-8', content: Buffer.from('OPENQASM 3.0;\n// 🔑') },
  { name: 'page.html', mediaType: 'text/html', content: Buffer.alloc(0) }
]

let ada: TestUser
let eve: TestUser
let jobId: string
beforeAll(async () => {
  ada = await api.signUp()
  eve = await api.signUp()
  jobId = await ada.submit(submission())
  await completeJob(db, jobId, fence, (await store(jobId))!)
})

/** Does what a worker does, up to a stored result. */
async function store(id: string): Promise<string | null> {
  await beginJob(db, id, fence, {})
  const number = await openAttempt(db, id, fence)
  return completeAttempt(db, id, number!, '{"counts":{"00":1}}', files)
}

const download = async (name: string, headers: Record<string, string> = {}) =>
  api.app.inject({ url: `/api/jobs/${jobId}/artifacts/${name}`, headers: { cookie: ada.cookie, ...headers } })

test('the list of artifacts names every file except the result', async () => {
  const answer = await ada.get(`/api/jobs/${jobId}/artifacts`)
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      artifacts: ['circuit.qasm', 'page.html', 'state_vector.npy'].map((name) => {
        const { content, mediaType } = files.find((file) => file.name === name)!
        const url = `/api/jobs/${jobId}/artifacts/${name}`
        return { name, sha256: sha256(content), size_bytes: content.length, media_type: mediaType, url }
      })
    }
  ])
  expect((await ada.get(`/api/jobs/${jobId}`)).body.result).toEqual({ counts: { '00': 1 } })
})

test.each(files)('the artifact $name is downloaded byte for byte', async ({ name, mediaType, content }) => {
  const answer = await download(name)
  expect(answer.statusCode).toBe(200)
  expect(answer.rawPayload.equals(content)).toBe(true)
  expect(answer.headers).toMatchObject({
    'content-type': mediaType,
    'content-length': String(content.length),
    'content-disposition': `attachment; filename="${name}"`,
    etag: `"${sha256(content)}"`,
    'x-content-type-options': 'nosniff'
  })
})

test('an unchanged artifact is not sent again', async () => {
  const etag = `"${sha256(bytes)}"`
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const answer = await download('state_vector.npy', { 'if-none-match': known })
    expect([answer.statusCode, answer.payload, answer.headers.etag]).toEqual([304, '', etag])
  }
  expect((await download('state_vector.npy', { 'if-none-match': '"other"' })).statusCode).toBe(200)
})

test.each(['nothing', 'result.json', '..%2F..%2Fetc%2Fpasswd', "'; drop table artifacts"])(
  'an artifact with an unknown name is 404: %s',
  async (name) => {
    const answer = await ada.get(`/api/jobs/${jobId}/artifacts/${name}`)
    expect([answer.status, answer.body.error]).toEqual([404, 'no such artifact; see the list of artifacts of the job'])
  }
)

test('artifacts of unknown jobs and jobs of others are 404, without credentials 401', async () => {
  for (const path of [`${jobId}/artifacts`, `${jobId}/artifacts/circuit.qasm`]) {
    expect(await eve.get(`/api/jobs/${path}`)).toMatchObject({ status: 404, body: { error: 'no such job' } })
    expect((await api.ask('GET', `/api/jobs/${path}`)).status).toBe(401)
  }
  expect((await ada.get('/api/jobs/01900000-0000-7000-8000-000000000000/artifacts')).status).toBe(404)
  expect((await ada.get('/api/jobs/x/artifacts')).status).toBe(400)
})

test('artifacts are not shown before the job has its result', async () => {
  const id = await ada.submit(submission({ execution_mode: 'temporal' }))
  const list = async () => (await ada.get(`/api/jobs/${id}/artifacts`)).body
  expect(await list()).toEqual({ artifacts: [] })
  expect(await store(id)).toMatch(/^[0-9a-f]{64}$/)
  expect(await list()).toEqual({ artifacts: [] })
  expect((await ada.get(`/api/jobs/${id}/artifacts/circuit.qasm`)).status).toBe(404)
})

test('a worker that lost its attempt stores no artifact', async () => {
  const id = await ada.submit(submission({ execution_mode: 'temporal' }))
  await beginJob(db, id, fence, {})
  expect(await openAttempt(db, id, fence)).toBe(1)
  await requestCancel(db, id)
  expect(await completeAttempt(db, id, 2, '{}', files)).toBeNull()
  const [row] = await api.database.sql`select count(*)::int as count from artifacts where job_id = ${id}`
  expect(row!.count).toBe(0)
})

test('files that the executor produces can be read after the job', async () => {
  const id = await executed(submission({ execution_mode: 'temporal' }))
  const { artifacts } = (await ada.get(`/api/jobs/${id}/artifacts`)).body
  const circuit = artifacts.find((file: { name: string }) => file.name === 'circuit.qasm')
  const text = (await ada.get(circuit.url)).text
  expect(text).toMatch(/^OPENQASM 3/)
  expect(sha256(Buffer.from(text))).toBe(circuit.sha256)
  const { metadata } = (await ada.get(`/api/jobs/${id}`)).body.result
  expect(metadata.circuit_sha256).toBe(circuit.sha256)
})

test('a state vector of 15 qubits is a file, and the result has its address', async () => {
  const params = { shots: 10, extract_state_vector: true }
  const circuit = { format: 'qasm3', payload: 'OPENQASM 3.0; include "stdgates.inc"; qubit[15] q; x q[0];' }
  const id = await executed({ execution_mode: 'temporal', backend: 'aer-statevector', circuit, params })
  const { result } = (await ada.get(`/api/jobs/${id}`)).body
  expect(result.state_vector).toEqual({
    artifact: 'state_vector.npy',
    media_type: 'application/octet-stream',
    url: `/api/jobs/${id}/artifacts/state_vector.npy`
  })
  const { rawPayload } = await api.app.inject({ url: result.state_vector.url, headers: { cookie: ada.cookie } })
  // Complex numbers of 16 bytes after a header; qubit 0 is the most significant bit of the index.
  const header = rawPayload.length - 2 ** 15 * 16
  expect(header).toBeGreaterThan(0)
  expect(rawPayload.readDoubleLE(header + 2 ** 14 * 16)).toBeCloseTo(1)
})

/** Submits a job and runs it with the real executor. */
async function executed(body: Record<string, unknown>): Promise<string> {
  const id = await ada.submit(body)
  await executeToEnd(db, id)
  return id
}
