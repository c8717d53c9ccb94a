// The result of a job apart from its record: GET /api/jobs/:id/result, and the record without it.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('job_result')
const { db } = api.database
afterAll(() => api.close())

const small = '{ "counts": {"0": 1},\n "large": 12345678901234567890, "e": 1e400 }'
const large = `{"counts":{"0":1},"text":"${'é🔑'.repeat(300_000)}"}`

let ada: TestUser
const jobs: Record<string, string> = {}
beforeAll(async () => {
  ada = await api.signUp()
  for (const result of [small, large]) {
    const id = await ada.submit(submission())
    await finishJob(db, id, result)
    jobs[result] = id
  }
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe.each([
  ['a small result', small],
  ['a large result', large]
])('%s', (_what, result) => {
  test('is sent as it is stored, with its SHA-256 as ETag', async () => {
    const answer = await ada.get(`/api/jobs/${jobs[result]}/result`)
    expect(answer.text === result).toBe(true)
    expect([answer.status, answer.headers]).toMatchObject([
      200,
      {
        etag: `"${sha256(result)}"`,
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(Buffer.byteLength(result)),
        'cache-control': 'private, no-cache'
      }
    ])
  })

  test('is not sent again to whoever names its ETag', async () => {
    const path = `/api/jobs/${jobs[result]}/result`
    const tag = `"${sha256(result)}"`
    const known = await ada.ask('GET', path, undefined, { 'if-none-match': `"other", W/${tag}` })
    expect([known.status, known.text, known.headers.etag]).toEqual([304, '', tag])
    expect((await ada.ask('GET', path, undefined, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  test('can be left out of the record, which is the same otherwise and states its size', async () => {
    const id = jobs[result]
    const { body: whole } = await ada.get(`/api/jobs/${id}`)
    const omitted = await ada.get(`/api/jobs/${id}?result=omit`)
    expect(omitted.body).toEqual({ ...whole, result: null, result_bytes: Buffer.byteLength(result) })
    expect(whole).not.toHaveProperty('result_bytes')
    expect(omitted.text.length).toBeLessThan(8_000)
  })
})

test('a job without a result has none, and its record says null for the size', async () => {
  const id = await ada.submit(submission())
  const none = await ada.get(`/api/jobs/${id}/result`)
  expect([none.status, none.body]).toEqual([404, { error: 'this job is pending and has no result' }])
  expect((await ada.get(`/api/jobs/${id}?result=omit`)).body).toMatchObject({ result: null, result_bytes: null })
  expect((await ada.get(`/api/jobs/${id}?result=no`)).body.error).toContain('result: must be one of omit')
})

test('a job of another team has no result either', async () => {
  const eve = await api.signUp()
  const stranger = await eve.get(`/api/jobs/${jobs[small]}/result`)
  expect([stranger.status, stranger.body]).toEqual([404, { error: 'no such job' }])
})
