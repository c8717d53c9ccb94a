// TLS towards Temporal, certificates of clients, and the keys of managed services.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { NativeConnection } from '@temporalio/worker'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { readTemporalSecurity } from '../../../services/dispatch/temporal-security.js'
import { createAuthority } from '../../support/tls/certificates.js'
import { tlsBefore } from '../../support/tls/tls-before.js'

const folder = mkdtempSync(join(tmpdir(), 'temporal-tls-'))
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const [ours, others] = [createAuthority('ours'), createAuthority('others')]
const server = ours.sign(['localhost', 'temporal.internal'])
const client = ours.sign(['a client'])
const TEMPORAL_TLS_CA = file('ca.pem', ours.ca)
const pair = { TEMPORAL_TLS_CERT: file('crt.pem', client.cert), TEMPORAL_TLS_KEY: file('key.pem', client.key) }

type Proxy = Awaited<ReturnType<typeof tlsBefore>>
const proxies = {} as Record<'open' | 'mutual', Proxy>
beforeAll(async () => {
  const target = process.env.TEST_TEMPORAL_ADDRESS!
  proxies.open = await tlsBefore(target, server)
  proxies.mutual = await tlsBefore(target, { ...server, ca: ours.ca, requestCert: true, rejectUnauthorized: true })
})
afterAll(async () => {
  await Promise.all(Object.values(proxies).map((proxy) => proxy.close()))
  rmSync(folder, { recursive: true })
})

/** @param limitMs a call that is refused is repeated until then. */
async function asClient(port: number, env: NodeJS.ProcessEnv, limitMs = 30_000): Promise<string> {
  const target = { address: `localhost:${port}`, ...readTemporalSecurity(env) }
  const { connection, close } = createTemporalClient(target, 'default')
  try {
    await connection.withDeadline(Date.now() + limitMs, () => connection.workflowService.getSystemInfo({}))
    return 'answers'
  } catch {
    return 'fails'
  } finally {
    await close()
  }
}

async function asWorker(port: number, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const connection = await NativeConnection.connect({ address: `localhost:${port}`, ...readTemporalSecurity(env) })
    await connection.close()
    return 'answers'
  } catch {
    return 'fails'
  }
}

describe.each<[string, (port: number, env: NodeJS.ProcessEnv, limitMs?: number) => Promise<string>]>([
  ['the client', asClient],
  ['a worker', asWorker]
])('%s', (_who, ask) => {
  test.each<[string, 'open' | 'mutual', NodeJS.ProcessEnv, string]>([
    ['reaches a server whose authority it trusts', 'open', { TEMPORAL_TLS_CA }, 'answers'],
    ['refuses one of another authority', 'open', { TEMPORAL_TLS_CA: file('others.pem', others.ca) }, 'fails'],
    ['refuses one for which no authority is given', 'open', { TEMPORAL_TLS: '1' }, 'fails'],
    ['does not reach it without TLS', 'open', {}, 'fails'],
    [
      'asks for the name that is given, and compares it',
      'open',
      { TEMPORAL_TLS_CA, TEMPORAL_TLS_SERVER_NAME: 'temporal.internal' },
      'answers'
    ],
    ['refuses another name', 'open', { TEMPORAL_TLS_CA, TEMPORAL_TLS_SERVER_NAME: 'elsewhere.internal' }, 'fails'],
    ['proves itself by its certificate', 'mutual', { TEMPORAL_TLS_CA, ...pair }, 'answers'],
    ['is refused without one', 'mutual', { TEMPORAL_TLS_CA }, 'fails']
  ])('%s', async (_what, proxy, env, outcome) => {
    expect(await ask(proxies[proxy].port, env, outcome === 'fails' ? 5_000 : 30_000)).toBe(outcome)
  })
})

test('the name that is given is asked for by SNI', async () => {
  proxies.open.names.length = 0
  const env = { TEMPORAL_TLS_CA, TEMPORAL_TLS_SERVER_NAME: 'temporal.internal' }
  await asClient(proxies.open.port, env)
  await asWorker(proxies.open.port, env)
  expect(new Set(proxies.open.names)).toEqual(new Set(['temporal.internal']))
})

test.each([
  ['TEMPORAL_API_KEY', { TEMPORAL_API_KEY: 'key-1' }],
  ['the file of TEMPORAL_API_KEY_FILE', { TEMPORAL_API_KEY_FILE: file('api-key', 'key-1\n') }]
])('%s goes along with every call, over TLS', async (_name, env) => {
  const keys: unknown[] = []
  const managed = createSecureServer(server, (request, response) => {
    keys.push(request.headers.authorization)
    response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': '16' }).end()
  })
  await new Promise<void>((resolve) => managed.listen(0, '127.0.0.1', resolve))
  const { port } = managed.address() as AddressInfo
  try {
    await asClient(port, { TEMPORAL_TLS_CA, ...env }, 5_000)
    await asWorker(port, { TEMPORAL_TLS_CA, ...env })
    expect(keys.length).toBeGreaterThan(1)
    expect(new Set(keys)).toEqual(new Set(['Bearer key-1']))
  } finally {
    managed.close()
  }
})

test('nothing is secured where nothing is set', () => {
  expect(readTemporalSecurity({})).toEqual({})
  expect(readTemporalSecurity({ TEMPORAL_TLS: '1' })).toEqual({ tls: {} })
})

test.each<[string, NodeJS.ProcessEnv]>([
  ['TEMPORAL_TLS must be 0 or 1 (got yes)', { TEMPORAL_TLS: 'yes' }],
  [
    'TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY are set together or not at all',
    { TEMPORAL_TLS_KEY: pair.TEMPORAL_TLS_KEY }
  ],
  ['TEMPORAL_TLS_CA=/none/ca.pem cannot be read: ENOENT', { TEMPORAL_TLS_CA: '/none/ca.pem' }],
  ['TEMPORAL_TLS is 0, but', { TEMPORAL_TLS: '0', TEMPORAL_API_KEY: 'key-1' }]
])('%s', (message, env) => {
  expect(() => readTemporalSecurity(env)).toThrow(message)
})
