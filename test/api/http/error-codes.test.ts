// Every refusal names its code in a header. Its body does not depend on that header: these are the bytes that clients know.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { rateLimitRefusalBody, rateLimits } from '../../../domain/teams/rate-limits.js'
import { type ApiResponse, type Headers, startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('error_codes', {
  limits: { ...rateLimits, submit: { ...rateLimits.submit, max: 1_000 } }
})
afterAll(() => api.close())

type Refused = [code: string, status: number, message: string, method: string, path: string, body?: unknown]

const noJob = '00000000-0000-4000-8000-000000000000'
const refusals: Refused[] = [
  ['not_found', 404, 'no route GET /api/nothing', 'GET', '/api/nothing?a=1'],
  ['not_found', 404, 'no such job', 'GET', `/api/jobs/${noJob}`],
  ['validation_error', 400, 'limit: must be an integer from 1 to 100 (got 0)', 'GET', '/api/jobs?limit=0'],
  ['validation_error', 400, 'url: holds a % that begins no character', 'GET', '/api/jobs/%'],
  ['payload_too_large', 413, 'body: is larger than this route takes', 'POST', '/api/jobs/submit', 'x'.repeat(5e6)],
  [
    'backend_unknown',
    400,
    'backend: no backend is called "nowhere"; see the list of backends',
    'POST',
    '/api/jobs/submit',
    submission({ backend: 'nowhere' })
  ]
]

const codeOf = ({ headers }: ApiResponse) => headers['x-error-code']

describe('a refusal has its code in X-Error-Code, and its bytes are the known ones:', () => {
  let ada: TestUser & { teamId: string }
  let key: Headers
  beforeAll(async () => {
    ada = await api.signUpWithTeam()
    const made = await ada.post('/api/team/api-keys', { team_id: ada.teamId, name: 'k', tier: 'qpu', kind: 'live' })
    key = { authorization: `Bearer ${made.body.key}` }
  })

  test.each(refusals)('%s (%p: %s)', async (code, status, message, method, path, ...[body]) => {
    const withSession = await ada.ask(method, path, body)
    expect([withSession.status, codeOf(withSession), withSession.text]).toEqual([
      status,
      code,
      JSON.stringify({ error: message })
    ])
    const keyed = code === 'backend_unknown' ? 422 : status
    const withKey = await api.ask(method, path, body, key)
    expect([withKey.status, codeOf(withKey), withKey.text]).toEqual([
      keyed,
      code,
      JSON.stringify({ error: { code, message, status: keyed } })
    ])
  })

  test('no credentials, and a key that is unknown', async () => {
    const nobody = await api.ask('GET', '/api/jobs')
    expect([nobody.status, codeOf(nobody), nobody.text]).toEqual([401, 'unauthorized', '{"error":"Unauthorized"}'])
    const message = 'Authorization: this API key is unknown, revoked or expired'
    const stranger = await api.ask('GET', '/api/jobs', undefined, { authorization: 'Bearer x' })
    expect([stranger.status, codeOf(stranger), stranger.text]).toEqual([
      401,
      'unauthorized',
      JSON.stringify({ error: { code: 'unauthorized', message, status: 401 } })
    ])
  })

  test('a page of another site', async () => {
    const answer = await ada.ask('POST', '/api/jobs/submit', submission(), { origin: 'https://evil.example' })
    expect([answer.status, codeOf(answer), answer.text]).toEqual([
      403,
      'permission_denied',
      '{"error":"Origin: requests from other sites are not allowed"}'
    ])
  })

  test('a body that is not JSON', async () => {
    const answer = await ada.ask('POST', '/api/jobs/submit', 'x', { 'content-type': 'text/plain' })
    expect([answer.status, codeOf(answer), answer.text]).toEqual([
      415,
      'unsupported_media_type',
      '{"error":"Content-Type: must be application/json"}'
    ])
  })

  test('a suspended team, whose code is in the body too', async () => {
    const eve = await api.signUpWithTeam()
    await api.database.db.execute(
      sql`update teams set suspended_at = now(), suspended_reason = 'a bill' where id = ${eve.teamId}`
    )
    const answer = await eve.post('/api/jobs/submit', submission())
    const message = 'This team is suspended and read-only (reason: a bill). Contact support to lift the suspension.'
    expect([answer.status, codeOf(answer), answer.text]).toEqual([
      403,
      'team_suspended',
      JSON.stringify({ error: message, code: 'TEAM_SUSPENDED' })
    ])
  })

  test('a limit of requests, with the seconds to wait', async () => {
    const answers: ApiResponse[] = []
    for (let turn = 0; turn <= rateLimits.compare.max; turn++)
      answers.push(await ada.post('/api/jobs/compare', { a: noJob, b: noJob }))
    const last = answers.at(-1)!
    const { message } = rateLimitRefusalBody(rateLimits.compare, Number(last.headers['retry-after']))
    expect([last.status, codeOf(last), last.text]).toEqual([429, 'rate_limited', JSON.stringify({ error: message })])
  })
})

test('a response that is no refusal has no such header', async () => {
  expect(codeOf(await api.ask('GET', '/api/meta'))).toBeUndefined()
})
