// Who may call the emulated IBM Quantum: API keys become access tokens at IAM, which live by the emulated clock and open the
// instances of their own account.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { aJob, claimsOf, errorOf, type Ibm, startIbm } from './ibm-client.js'

let ibm: Ibm

beforeAll(async () => {
  ibm = await startIbm()
})
beforeEach(() => ibm.control.reset())
afterAll(() => ibm.close())

const HOUR_MS = 3_600_000
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const list = (headers: Record<string, string> = {}) => ibm.call('GET', '/jobs', undefined, headers)

describe('IAM', () => {
  test('exchanges an API key for a JSON Web Token of an hour', async () => {
    const { status, body } = await ibm.exchange(ibm.token)
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        refresh_token: 'not_supported',
        token_type: 'Bearer',
        expires_in: 3600,
        expiration: expect.any(Number),
        scope: 'ibm openid'
      }
    ])
    const { iat, exp } = claimsOf(body.access_token)
    expect([exp - iat, exp]).toEqual([3600, body.expiration])
    expect(JSON.stringify(claimsOf(body.access_token))).not.toContain(ibm.token)
  })

  test('refuses an unknown and a revoked key in the same words', async () => {
    await ibm.steer('POST', '/keys', { token: ibm.token, active: false })
    for (const key of ['no-such-key-anywhere', ibm.token]) {
      const { status, body } = await ibm.exchange(key)
      expect([status, body]).toEqual([
        400,
        {
          errorCode: 'BXNIM0415E',
          errorMessage: 'Provided API key could not be found.',
          context: expect.objectContaining({ requestId: expect.any(String) })
        }
      ])
    }
    await ibm.steer('POST', '/keys', { token: ibm.token, active: true })
    expect((await ibm.exchange(ibm.token)).status).toBe(200)
  })

  test('refuses another grant', async () => {
    const { status, body } = await ibm.exchange(ibm.token, { grant_type: 'password' })
    expect([status, body.errorCode]).toEqual([400, 'BXNIM0109E'])
  })

  test('refuses in its own form while a fault is injected', async () => {
    ibm.control.fault({ kind: 'status', status: 503, match: { path: '/iam' } })
    const { status, body } = await ibm.exchange(ibm.token)
    expect([status, body]).toEqual([503, expect.objectContaining({ errorMessage: expect.any(String) })])
    expect((await list()).status).toBe(200)
  })
})

describe('a request', () => {
  test.each<[string, Record<string, string>]>([
    ['without a token', { authorization: '' }],
    ['with a token that IAM did not issue', bearer('a.b.c')],
    ['with an API key in the place of a token', bearer('emulated-ibm-key-of-the-account-0000000001')],
    ['without an instance', { 'service-crn': '' }]
  ])('%s is refused with 401', async (_name, headers) => {
    const answer = await list(headers)
    expect(errorOf(answer)).toEqual([401, 1219, expect.any(String)])
    expect(answer.body.trace).toEqual(expect.any(String))
    expect((await ibm.call('POST', '/jobs', aJob(), headers)).status).toBe(401)
    expect(ibm.control.tasks()).toEqual([])
  })

  test('for an instance of another account, or of none, is refused with 404', async () => {
    const { keys } = (await ibm.steer('GET', '/keys')).body
    const other = keys.find(({ account }: { account: string }) => account !== keys[0].account)
    expect((await list({ 'service-crn': other.instance })).status).toBe(404)
    expect((await list({ 'service-crn': `${ibm.instance}x` })).status).toBe(404)
    const token = await ibm.accessToken(other.token)
    expect((await list({ ...bearer(token), 'service-crn': other.instance })).status).toBe(200)
    expect((await list(bearer(token))).status).toBe(404)
  })

  test('with the API key itself is accepted as `apikey`', async () => {
    expect((await list({ authorization: `apikey ${ibm.token}` })).status).toBe(200)
  })

  test('sees the jobs of its own instance alone', async () => {
    const id = await ibm.accepted()
    const { keys } = (await ibm.steer('GET', '/keys')).body
    const headers = { ...bearer(await ibm.accessToken(keys[2].token)), 'service-crn': keys[2].instance }
    expect((await list(headers)).body.count).toBe(0)
    const answer = await ibm.call('GET', `/jobs/${id}`, undefined, headers)
    expect(errorOf(answer)).toEqual([404, 1291, `Job not found. Job ID: ${id}`])
    // The second key of the account opens the same instance.
    expect((await list(bearer(await ibm.accessToken(keys[1].token)))).body.count).toBe(1)
  })

  test('from the time before versions gets only the names of devices', async () => {
    const { body } = await ibm.call('GET', '/backends', undefined, { 'ibm-api-version': '' })
    expect(body).toEqual({ devices: ['ibm_fez', 'ibm_marrakesh'] })
  })
})

describe('an access token', () => {
  test('expires after an hour of emulated time', async () => {
    const token = await ibm.accessToken()
    // The emulated time goes on by itself, too.
    ibm.control.advance(HOUR_MS - 60_000)
    expect((await list(bearer(token))).status).toBe(200)
    ibm.control.advance(60_000)
    expect((await list(bearer(token))).status).toBe(401)
    expect((await list(bearer(await ibm.accessToken()))).status).toBe(200)
  })

  test('outlives its key, until tokens are ended', async () => {
    const token = await ibm.accessToken()
    await ibm.steer('POST', '/keys', { token: ibm.token, active: false })
    expect((await list(bearer(token))).status).toBe(200)
    await ibm.steer('POST', '/tokens', { expire: true })
    expect((await list(bearer(token))).status).toBe(401)
  })

  test('lives as long as a test says', async () => {
    await ibm.steer('POST', '/tokens', { expires_in_ms: 10_000 })
    const { body } = await ibm.exchange(ibm.token)
    expect(body.expires_in).toBe(10)
    ibm.control.advance(10_000)
    expect((await list(bearer(body.access_token))).status).toBe(401)
  })

  test('is refused once by the fault "expire_tokens", which spares IAM', async () => {
    ibm.control.fault({ kind: 'expire_tokens', match: { path: '/jobs' } })
    expect(errorOf(await list())).toEqual([401, 1219, 'Error authenticating user.'])
    expect((await list()).status).toBe(200)
  })
})

test.each([
  ['/keys', { token: 'unknown-key', active: false }, 'There is no such API key'],
  ['/keys', { active: false }, 'token'],
  ['/tokens', { expires_in_ms: 10 }, 'expires_in_ms'],
  ['/settings', { queue: 1 }, 'additional']
])('the control route %s refuses %j', async (path, body, words) => {
  const answer = await ibm.steer('POST', path, body)
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(words)])
})
