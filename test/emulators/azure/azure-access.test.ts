// The directory, Resource Manager and the workspace of the emulated Azure let in whom they should, by the emulated clock, and
// name each refusal.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  type Azure,
  type AzureCredentials,
  errorOf,
  type ListedKey,
  pathOf,
  scopes,
  startAzure
} from './azure-client.js'

const hour = 3_600_000
let azure: Azure
let byId: Record<string, AzureCredentials>

beforeAll(async () => {
  azure = await startAzure()
  byId = Object.fromEntries((await azure.keys()).map(({ id, credentials }: ListedKey) => [id, credentials]))
})
beforeEach(() => azure.control.reset())
afterAll(() => azure.close())

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const tokenFor = async (scope: string, own?: AzureCredentials): Promise<string> =>
  (await azure.token(scope, own)).body.access_token
const quotas = (calling?: Parameters<Azure['call']>[3]) => azure.call('GET', '/quotas', undefined, calling)

describe('the directory', () => {
  test('tells where its endpoints are', async () => {
    const { tenant_id } = azure.described
    const { status, body } = await azure.fetched(`${azure.baseUrl}/${tenant_id}/v2.0/.well-known/openid-configuration`)
    expect([status, body.issuer, body.token_endpoint, body.authorization_endpoint]).toEqual([
      200,
      `${azure.baseUrl}/${tenant_id}/v2.0`,
      `${azure.baseUrl}/${tenant_id}/oauth2/v2.0/token`,
      `${azure.baseUrl}/${tenant_id}/oauth2/v2.0/authorize`
    ])
  })

  test('issues a token for an hour', async () => {
    const { status, body } = await azure.token(scopes.quantum)
    expect([status, body]).toEqual([
      200,
      { token_type: 'Bearer', expires_in: 3600, ext_expires_in: 3600, access_token: expect.any(String) }
    ])
    expect((await quotas(bearer(body.access_token))).status).toBe(200)
  })

  test('takes the secret in a Basic header too', async () => {
    const { tenant_id, client_id, client_secret } = azure.described
    const { status } = await azure.fetched(`${azure.baseUrl}/${tenant_id}/oauth2/v2.0/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.quantum })
    })
    expect(status).toBe(200)
  })

  test.each<[string, Record<string, string>, number, string, number]>([
    ['a wrong secret', { client_secret: 'wrong' }, 401, 'invalid_client', 7000215],
    [
      'an unknown application',
      { client_id: '00000000-0000-4000-8000-000000000000' },
      400,
      'unauthorized_client',
      700016
    ],
    ['an unknown scope', { scope: 'https://graph.microsoft.com/.default' }, 400, 'invalid_scope', 70011],
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type', 70003]
  ])('refuses %s', async (_what, changes, status, code, number) => {
    const answer = await azure.token(scopes.quantum, azure.described, changes)
    expect([...errorOf(answer), answer.body.error_codes]).toEqual([status, code, [number]])
    expect(answer.body.error_description).toContain(`AADSTS${number}: `)
    expect(answer.text).not.toContain('wrong')
  })

  test('refuses an unknown tenant, an expired secret and a body that is no form', async () => {
    const tenant_id = '00000000-0000-4000-8000-000000000000'
    expect(errorOf(await azure.token(scopes.quantum, { ...azure.described, tenant_id }))).toEqual([
      400,
      'invalid_tenant'
    ])
    await azure.steer('POST', '/keys', { id: 'first-secret', active: false })
    const expired = await azure.token(scopes.quantum)
    expect([...errorOf(expired), expired.body.error_codes]).toEqual([401, 'invalid_client', [7000222]])
    const url = `${azure.baseUrl}/${azure.described.tenant_id}/oauth2/v2.0/token`
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    expect(errorOf(await azure.fetched(url, json))).toEqual([400, 'invalid_request'])
  })
})

describe('a token', () => {
  test('expires by the emulated clock, and a reset of the emulator leaves it valid', async () => {
    const token = await tokenFor(scopes.quantum)
    azure.control.reset()
    expect((await quotas(bearer(token))).status).toBe(200)
    azure.control.advance(hour + 1000)
    expect(errorOf(await quotas(bearer(token)))).toEqual([401, 'ExpiredAuthenticationToken'])
    expect((await quotas()).status).toBe(200)
  })

  test('is valid as long as the test sets', async () => {
    await azure.steer('POST', '/settings', { token_ms: 5_000 })
    const { expires_in, access_token } = (await azure.token(scopes.quantum)).body
    expect(expires_in).toBe(5)
    azure.control.advance(6_000)
    expect((await quotas(bearer(access_token))).status).toBe(401)
  })

  test('opens one service only', async () => {
    const [management, quantum] = [await tokenFor(scopes.management), await tokenFor(scopes.quantum)]
    expect((await azure.manager(bearer(management))).status).toBe(200)
    expect(errorOf(await azure.manager(bearer(quantum)))).toEqual([401, 'InvalidAuthenticationTokenAudience'])
    expect(errorOf(await quotas(bearer(management)))).toEqual([401, 'InvalidAuthenticationTokenAudience'])
  })

  test('that is changed opens nothing', async () => {
    const [header, payload = '', signature] = (await tokenFor(scopes.quantum)).split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const longer = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 })).toString('base64url')
    expect(errorOf(await quotas(bearer(`${header}.${longer}.${signature}`)))).toEqual([
      401,
      'InvalidAuthenticationToken'
    ])
    expect(errorOf(await quotas(bearer('abc')))).toEqual([401, 'InvalidAuthenticationToken'])
    expect(errorOf(await quotas({ headers: {} }))).toEqual([401, 'AuthenticationFailed'])
  })

  test('seems expired to the requests that the fault "expire_tokens" names', async () => {
    await azure.steer('POST', '/faults', { kind: 'expire_tokens', match: { path: pathOf(azure.described) } })
    expect(errorOf(await quotas())).toEqual([401, 'ExpiredAuthenticationToken'])
    expect((await quotas()).status).toBe(200)
  })
})

describe('a workspace', () => {
  test('tells Resource Manager where it answers', async () => {
    const { status, body } = await azure.manager()
    expect([status, body.name, body.location, body.properties.endpointUri]).toEqual([
      200,
      'emulated-workspace',
      'eastus',
      azure.baseUrl
    ])
  })

  test('opens to both secrets of its application and to its keys', async () => {
    for (const id of ['first-secret', 'second-secret', 'first-key', 'second-key'])
      expect([id, (await quotas({ as: byId[id]! })).status]).toEqual([id, 200])
  })

  test('opens to no wrong key, and Resource Manager to no key at all', async () => {
    const wrong = { headers: { 'x-ms-quantum-api-key': 'wrong-key' } }
    expect(errorOf(await quotas(wrong))).toEqual([401, 'Unauthorized'])
    expect(errorOf(await azure.manager({ as: byId['first-key']! }))).toEqual([401, 'AuthenticationFailed'])
  })

  test.each(['no-role', 'other-secret', 'other-key'])('does not open to %s', async (id) => {
    const calling = { as: byId[id]!, of: azure.described }
    expect(errorOf(await quotas(calling))).toEqual([403, 'AuthorizationFailed'])
  })

  test('of a stranger is open to the stranger', async () => {
    expect((await quotas({ as: byId['other-secret']! })).status).toBe(200)
    expect((await azure.manager({ as: byId['other-secret']! })).body.location).toBe('westeurope')
  })

  test('that does not exist is not found in the own subscription, and forbidden elsewhere', async () => {
    const missing = { ...azure.described, workspace_name: 'no-such-workspace' }
    expect(errorOf(await azure.manager({ of: missing }))).toEqual([404, 'ResourceNotFound'])
    const elsewhere = { ...azure.described, subscription_id: '00000000-0000-4000-8000-000000000000' }
    expect(errorOf(await azure.manager({ of: elsewhere }))).toEqual([403, 'AuthorizationFailed'])
  })

  test('is named in any case, and needs a version', async () => {
    const shouted = { ...azure.described, resource_group: 'EMULATED-GROUP', workspace_name: 'Emulated-Workspace' }
    expect((await quotas({ of: shouted })).status).toBe(200)
    const headers = { authorization: `Bearer ${await tokenFor(scopes.quantum)}` }
    const url = `${azure.baseUrl}${pathOf(azure.described)}/quotas`
    expect(errorOf(await azure.fetched(url, { headers }))).toEqual([400, 'MissingApiVersionParameter'])
  })

  test('refuses a revoked secret or key, and its tokens, until it is restored', async () => {
    const token = await tokenFor(scopes.quantum)
    for (const id of ['first-secret', 'first-key']) await azure.steer('POST', '/keys', { id, active: false })
    expect(errorOf(await quotas(bearer(token)))).toEqual([401, 'InvalidAuthenticationToken'])
    expect(errorOf(await quotas({ as: byId['first-key']! }))).toEqual([401, 'Unauthorized'])
    expect((await quotas({ as: byId['second-secret']! })).status).toBe(200)
    await azure.steer('POST', '/keys', { id: 'first-secret', active: true })
    expect((await quotas(bearer(token))).status).toBe(200)
    expect((await azure.steer('POST', '/keys', { id: 'no-such-key', active: true })).status).toBe(400)
  })
})

test('each answer names the request', async () => {
  const ids = [await quotas(), await quotas({ headers: {} })].map(({ headers }) => headers.get('x-ms-request-id'))
  expect(new Set(ids).size).toBe(2)
  expect(ids).not.toContain(null)
})

test('directory, Resource Manager, workspace and storage have one address', () => {
  const address = azure.baseUrl
  expect(azure.variables).toEqual({
    AZURE_AUTHORITY_HOST: address,
    AZURE_RESOURCE_MANAGER_URL: address,
    AZURE_QUANTUM_URL: address
  })
})
