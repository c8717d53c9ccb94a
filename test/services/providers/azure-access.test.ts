// Who calls Azure, and where a workspace is.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { ProviderFault, type ProviderFaultKind } from '../../../services/providers/adapter.js'
import { createAddressCheck, isSigned } from '../../../services/providers/azure/addresses.js'
import { baseOf, basesOf, knowingBase } from '../../../services/providers/azure/endpoints.js'
import { fault, signal, startAzureScene } from './azure-scene.js'
import { account, CANARY, keyed, principal } from './azure-server.js'

// Whatever the surroundings of the process hold, only a team's credentials count.
Object.assign(process.env, {
  AZURE_TENANT_ID: '00000000-0000-0000-0000-000000000000',
  AZURE_CLIENT_ID: '00000000-0000-0000-0000-000000000000',
  AZURE_CLIENT_SECRET: 'a-secret-of-the-surroundings',
  AZURE_QUANTUM_CONNECTION_STRING: 'ApiKey=a-key-of-the-surroundings'
})

const scene = await startAzureScene()
const { server } = scene
beforeEach(() => scene.reset())
afterAll(() => scene.close())

const backends = (credentials: Credentials = principal) => scene.azure.backends(credentials, signal)
const path = `/subscriptions/${principal.subscription_id}/resourceGroups/Group_(1)/providers/Microsoft.Quantum/workspaces/Workspace-1`

describe('a service principal', () => {
  test('gets a token for Resource Manager and one for the workspace, and calls the workspace with its own', async () => {
    await backends()
    const [manager, quantum] = server.askedOf('token')
    expect(manager!.path).toBe(`/login/${principal.tenant_id}/oauth2/v2.0/token`)
    expect(Object.fromEntries(new URLSearchParams(manager!.text))).toEqual({
      grant_type: 'client_credentials',
      client_id: principal.client_id,
      client_secret: principal.client_secret,
      scope: 'https://management.azure.com/.default'
    })
    expect(new URLSearchParams(quantum!.text).get('scope')).toBe('https://quantum.microsoft.com/.default')
    expect(server.askedOf('manager')[0]).toMatchObject({
      path: `/arm${path}`,
      headers: { authorization: `Bearer ${CANARY}-token-1` }
    })
    expect(server.askedOf('status')[0]).toMatchObject({
      path: `/q${path}/providerStatus`,
      headers: { authorization: `Bearer ${CANARY}-token-2` }
    })
    expect(server.askedOf('status')[0]!.query.get('api-version')).toBe('2026-01-15-preview')
  })

  test('asks for tokens and for the address of its workspace once', async () => {
    await backends()
    await backends()
    expect(server.askedOf('token')).toHaveLength(2)
    expect(server.askedOf('manager')).toHaveLength(1)
    expect(server.askedOf('status')).toHaveLength(2)
  })

  test.each<unknown>([299, undefined, '3600', { toString: 1 }])(
    'uses a token that expires in %p seconds for one request alone',
    async (expires_in) => {
      server.answer({ token: { body: { access_token: `${CANARY}-token`, expires_in } } })
      await backends()
      await backends()
      expect(server.askedOf('token')).toHaveLength(3)
    }
  )

  test('whose token was revoked before its time gets a new one', async () => {
    await backends()
    server.answer({
      status: ({ headers }) =>
        headers.authorization === `Bearer ${CANARY}-token-3` ? { body: { value: [] } } : { status: 401 }
    })
    expect(await backends()).toEqual([])
    expect(server.askedOf('token')).toHaveLength(3)
  })

  test('that the workspace does not accept with a new token either is rejected', async () => {
    server.answer({ status: { status: 401, body: { error: { code: 'Unauthorized', message: 'No.' } } } })
    await expect(backends()).rejects.toEqual(fault('unauthorized', /^Azure Quantum returned 401: Unauthorized: No\./))
    expect(server.askedOf('status')).toHaveLength(2)
  })

  test.each<[string, number, object | string, ProviderFaultKind, RegExp]>([
    [
      'a wrong secret',
      401,
      { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' },
      'unauthorized',
      /AADSTS7000215: the client_secret .* is wrong/
    ],
    [
      'a wrong secret, as some answers have it',
      400,
      { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' },
      'unauthorized',
      /client_secret/
    ],
    [
      'an expired secret',
      401,
      { error: 'invalid_client', error_description: 'AADSTS7000222: The provided client secret keys are expired.' },
      'unauthorized',
      /expired; store a new one/
    ],
    [
      'an unknown tenant',
      400,
      { error: 'invalid_request', error_description: "AADSTS90002: Tenant 'x' not found." },
      'unauthorized',
      /tenant_id .* is not a tenant/
    ],
    ['an unknown fault', 400, { error: 'invalid_scope' }, 'unauthorized', /invalid_scope: check tenant_id/],
    ['an answer of another form', 400, '<html>', 'unauthorized', /check tenant_id, client_id and client_secret/],
    ['objects for words', 401, { error: {}, error_description: { toString: 1 } }, 'unauthorized', /check tenant_id/],
    ['too many requests', 429, {}, 'busy', /returned 429$/],
    ['an outage', 503, {}, 'unclear', /returned 503$/],
    ['no token', 200, { expires_in: 3600 }, 'unclear', /without a token/],
    ['a token that no header can hold', 200, { access_token: 'line\nbreak', expires_in: 3600 }, 'unclear', /token/],
    ['no JSON', 200, '<html>', 'unclear', /without a token/]
  ])('is told what to repair after %s', async (_what, status, body, kind, message) => {
    server.answer({ token: { status, body } })
    await expect(backends()).rejects.toEqual(fault(kind, new RegExp(`^Microsoft Entra ID .*${message.source}`)))
  })

  test.each<[string, number, object | string, ProviderFaultKind, RegExp]>([
    ['is not there', 404, { error: { code: 'ResourceNotFound', message: 'None.' } }, 'unauthorized', /workspace_name/],
    ['may not be read', 403, { error: { code: 'AuthorizationFailed', message: 'No.' } }, 'unauthorized', /a role/],
    ['has no address', 200, { properties: {} }, 'unclear', /did not name the address of the workspace/],
    ['has nothing', 200, 'null', 'unclear', /did not name the address of the workspace/],
    [
      'is elsewhere',
      200,
      { properties: { endpointUri: 'https://eastus.quantum.azure.com.evil.example' } },
      'refused',
      /not one of Azure's/
    ]
  ])('whose workspace %s is told so', async (_what, status, body, kind, message) => {
    server.answer({ manager: { status, body } })
    await expect(backends()).rejects.toEqual(fault(kind, message))
    expect(server.askedOf('status')).toEqual([])
  })
})

describe('a key', () => {
  test('is sent to the workspace alone', async () => {
    await backends(keyed)
    expect(server.asked).toHaveLength(1)
    expect(server.askedOf('status')[0]!.headers).toMatchObject({ 'x-ms-quantum-api-key': keyed.api_key })
    expect(server.askedOf('status')[0]!.headers.authorization).toBeUndefined()
  })

  test('that the workspace does not accept is rejected after one request', async () => {
    server.answer({ status: { status: 401, body: '' } })
    await expect(backends(keyed)).rejects.toEqual(fault('unauthorized', /does not accept the team's azure-quantum/))
    expect(server.asked).toHaveLength(1)
  })

  test('is left unused next to a service principal', async () => {
    await backends({ ...principal, api_key: keyed.api_key! })
    for (const { headers } of server.asked) expect(headers['x-ms-quantum-api-key']).toBeUndefined()
  })
})

describe('credentials', () => {
  test('are checked by what they open', async () => {
    const devices = ['ionq.simulator', 'ionq.qpu.forte-1', 'quantinuum.qpu.h2-1', 'rigetti.sim.qvm']
    const opened = { account, region: 'eastus', devices }
    expect(await scene.azure.verify(principal, signal)).toEqual(opened)
    expect(await scene.azure.verify(keyed, signal)).toEqual(opened)
  })

  test('are checked with a new token, so that a revoked secret is noticed', async () => {
    await scene.azure.verify(principal, signal)
    server.answer({ token: { status: 401, body: { error: 'invalid_client' } } })
    await expect(scene.azure.verify(principal, signal)).rejects.toEqual(fault('unauthorized', /invalid_client/))
  })

  test('without an identity are rejected unsent', async () => {
    const { api_key: _key, ...nothing } = keyed
    const lack =
      "No identity: set tenant_id, client_id and client_secret, or api_key, in the team's azure-quantum credentials"
    await expect(scene.azure.verify(nothing, signal)).rejects.toMatchObject({ kind: 'unauthorized', message: lack })
    await expect(scene.azure.place(nothing, 'ionq.simulator', signal)).rejects.toMatchObject({
      kind: 'refused',
      message: lack
    })
    expect(server.asked).toEqual([])
  })

  test('name their workspace as the place of a job, and no secret', async () => {
    expect(await scene.azure.place(principal, 'ionq.simulator', signal)).toEqual({ account, location: 'eastus' })
  })
})

describe('the address of a workspace', () => {
  test.each([
    ['https://workspace-1.eastus.quantum.azure.com', 'https://eastus.quantum.azure.com'],
    ['https://Workspace-1.eastus-v2.quantum.azure.com/', 'https://eastus-v2.quantum.azure.com'],
    ['https://eastus.quantum.azure.com', 'https://eastus.quantum.azure.com']
  ])('%s is %s', (named, base) => {
    expect(baseOf(new URL(named), 'Workspace-1')).toBe(base)
  })

  test('keeps a location of the same name as the workspace', () => {
    expect(baseOf(new URL('https://eastus.quantum.azure.com'), 'eastus')).toBe('https://eastus.quantum.azure.com')
  })

  const refusal = (kind: ProviderFaultKind) => new ProviderFault(kind, kind)
  const [first, second] = basesOf('eastus')

  test.each<[string, ProviderFault | null, ProviderFault | null, string | ProviderFaultKind, number]>([
    ['the first of its location', null, refusal('not_found'), 'https://eastus.quantum.azure.com', 1],
    [
      'the second, where the first does not know it',
      refusal('not_found'),
      null,
      'https://eastus-v2.quantum.azure.com',
      2
    ],
    ['the second, where the first refuses', refusal('unauthorized'), null, 'https://eastus-v2.quantum.azure.com', 2],
    ['none, as the one says that knows it', refusal('not_found'), refusal('unauthorized'), 'unauthorized', 2],
    ['none, where both refuse', refusal('unauthorized'), refusal('not_found'), 'unauthorized', 2]
  ])('of a key is %s', async (_what, ofFirst, ofSecond, expected, requests) => {
    const asked: string[] = []
    const found = knowingBase([first, second], async (base) => {
      asked.push(base)
      return base === first ? ofFirst : ofSecond
    }).catch((error: ProviderFault) => error.kind)
    expect(await found).toBe(expected)
    expect(asked).toEqual([first, second].slice(0, requests))
  })
})

describe('an address that Azure names', () => {
  const azures = createAddressCheck(undefined)
  const replaced = createAddressCheck('http://127.0.0.1:4000/q')

  test.each([
    ['workspace', 'https://a.eastus.quantum.azure.com'],
    ['storage', 'https://account.blob.core.windows.net/job-1?sig=x']
  ] as const)('of a %s is taken where it is one of Azure: %s', (of, address) => {
    expect(azures(of, address).href).toContain(address)
    expect(replaced(of, address).href).toContain(address)
  })

  test.each(['workspace', 'storage'] as const)('of a %s is taken on the host that replaces it, at any port', (of) => {
    for (const address of ['http://127.0.0.1:4000/a', 'http://127.0.0.1:10000/b', 'https://127.0.0.1/c'])
      expect(replaced(of, address).href).toBe(address)
    expect(() => azures(of, 'http://127.0.0.1:4000/a')).toThrow(/not one of Azure's/)
  })

  test.each([
    'http://a.blob.core.windows.net/job',
    'https://a.blob.core.windows.net.evil.example/job',
    'https://evil.example/a.blob.core.windows.net',
    'https://evilblob.core.windows.net/job',
    'https://blob.core.windows.net/job',
    'https://a.blob.core.windows.net./job',
    'https://a.blob.core.windows.net:8443/job',
    'https://name:word@a.blob.core.windows.net/job',
    'https://a.blob.core.windows.net@evil.example/job',
    'https://a.eastus.quantum.azure.com/job',
    'http://169.254.169.254/metadata',
    'http://localhost:4000/job',
    'http://127.0.0.2:4000/job',
    'ftp://127.0.0.1:4000/job',
    'file:///etc/passwd'
  ])('of storage is refused: %s', (address) => {
    for (const check of [azures, replaced])
      expect(() => check('storage', address)).toThrow(expect.objectContaining({ kind: 'refused' }))
  })

  test.each<unknown>([
    undefined,
    null,
    5,
    {},
    { toString: 1 },
    '',
    'no address',
    `https://a.blob.core.windows.net/${'x'.repeat(5000)}`
  ])('cannot be %p', (address) => {
    expect(() => azures('storage', address)).toThrow(expect.objectContaining({ kind: 'unclear' }))
  })

  test('is signed for as long as its signature has five minutes left', () => {
    const url = (query: string) => new URL(`https://a.blob.core.windows.net/c/b?${query}`)
    const inMinutes = (minutes: number) => encodeURIComponent(new Date(Date.now() + minutes * 60_000).toISOString())
    expect(isSigned(url(`se=${inMinutes(6)}&sig=x`))).toBe(true)
    for (const query of [`se=${inMinutes(4)}&sig=x`, `se=${inMinutes(60)}`, 'sig=x', 'se=soon&sig=x', ''])
      expect([query, isSigned(url(query))]).toEqual([query, false])
  })
})
