// A body on a route that takes none is refused by name: a rerun with another backend would otherwise run on the old one.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startApi, type TestUser } from '../../support/api/api.js'
import type { ApiDocument } from '../../support/api/documented.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('no_body')
afterAll(() => api.close())

let admin: TestUser
/** Each route without a body, its parameters filled in. */
const routes: [method: string, path: string][] = []
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
  await api.app.ready()
  const { paths } = JSON.parse(JSON.stringify(api.app.swagger())) as ApiDocument
  for (const [path, item] of Object.entries(paths))
    for (const [method, { requestBody }] of Object.entries(item))
      if (method !== 'get' && !requestBody)
        routes.push([method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '0192f3a4-5b6c-7d8e-9f01-23456789abcd')])
})

describe('a route that takes no body', () => {
  test('refuses one by the names of its fields, whichever route it is', async () => {
    expect(routes.length).toBeGreaterThan(15)
    const answers = []
    for (const [method, path] of routes) {
      const { status, body } = await admin.ask(method, path, { backend: 'local', params: {} })
      answers.push([method, path, status, body.error])
    }
    const refusal = 'backend: is not a field of this request; params: is not a field of this request'
    expect(answers).toEqual(routes.map(([method, path]) => [method, path, 400, refusal]))
  })

  test.each([
    ['a list', '[]'],
    ['a text', '"local"'],
    ['a number', '0']
  ])('refuses %s', async (_what, body) => {
    const answer = await admin.ask('POST', '/api/auth/sign-out', body, { 'content-type': 'application/json' })
    expect([answer.status, answer.body.error]).toEqual([400, 'body: this request takes none'])
  })

  test('accepts {}, null and an empty body', async () => {
    const path = `/api/jobs/${await admin.submit(submission())}/rerun`
    const json = { 'content-type': 'application/json' }
    for (const body of ['{}', 'null', '']) expect((await admin.ask('POST', path, body, json)).status).toBe(201)
    expect((await admin.ask('POST', path)).status).toBe(201)
  })

  test('changes nothing when it refuses one', async () => {
    const id = await admin.submit(submission())
    const before = (await admin.get('/api/jobs')).body.total
    const answer = await admin.post(`/api/jobs/${id}/rerun`, { backend: 'aer-statevector' })
    expect(answer.status).toBe(400)
    expect((await admin.get('/api/jobs')).body.total).toBe(before)
  })
})
