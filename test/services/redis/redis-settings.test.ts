// What stops the start of a process that could not reach its Redis, and how keys are named.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { keyPrefixAt, readRedisSettings } from '../../../services/redis/redis-settings.js'
import { createAuthority } from '../../support/tls/certificates.js'

const folder = mkdtempSync(join(tmpdir(), 'redis-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const authority = createAuthority('redis-settings')
const [own, other] = [authority.sign(['localhost']), authority.sign(['localhost'])]
const ca = file('ca.pem', authority.ca)
const cert = file('cert.pem', own.cert)
const key = file('key.pem', own.key)
const otherKey = file('other-key.pem', other.key)
const text = file('text.pem', 'not a certificate')

const tls = 'rediss://:a-secret@localhost'

test('the files of TLS are read', () => {
  const settings = readRedisSettings({
    REDIS_URL: tls,
    REDIS_TLS_CA: ca,
    REDIS_TLS_CERT: cert,
    REDIS_TLS_KEY: key,
    REDIS_TLS_SERVER_NAME: 'redis.example.org'
  })
  expect(settings.address).toMatchObject({ kind: 'server', tls: true })
  expect(Object.fromEntries(Object.entries(settings.tls).map(([name, value]) => [name, String(value)]))).toEqual({
    ca: authority.ca,
    cert: own.cert,
    key: own.key,
    servername: 'redis.example.org'
  })
})

test.each([
  [{}, 'REDIS_URL is not set'],
  [{ REDIS_URL: 'redis-sentinel://:a-secret@h' }, 'REDIS_URL must end with'],
  [{ REDIS_URL: tls, REDIS_TLS_CA: '/nowhere/ca.pem' }, 'REDIS_TLS_CA=/nowhere/ca.pem cannot be read'],
  [{ REDIS_URL: tls, REDIS_TLS_CA: text }, 'REDIS_TLS_CA cannot be used'],
  [{ REDIS_URL: tls, REDIS_TLS_CERT: cert }, 'REDIS_TLS_CERT and REDIS_TLS_KEY are set together'],
  [{ REDIS_URL: tls, REDIS_TLS_CERT: cert, REDIS_TLS_KEY: otherKey }, 'REDIS_TLS_CERT or REDIS_TLS_KEY cannot be used'],
  [{ REDIS_URL: 'redis://:a-secret@localhost', REDIS_TLS_CA: ca }, 'need TLS: begin REDIS_URL with rediss']
])('%j stops the start with a message that names the variable', (env, message) => {
  const refused = () => readRedisSettings(env)
  expect(refused).toThrow(message)
  expect(refused).not.toThrow('a-secret')
})

test('only a cluster has braces around the prefix of its keys, so that running queues go on elsewhere', () => {
  const prefixAt = (REDIS_URL: string, prefix: string) => keyPrefixAt(readRedisSettings({ REDIS_URL }), prefix)
  expect(prefixAt('redis://h', 'qjs')).toBe('qjs')
  expect(prefixAt('redis-sentinel://h/main', 'qjs')).toBe('qjs')
  expect(prefixAt('redis-cluster://h', 'qjs')).toBe('{qjs}')
  expect(prefixAt('redis-cluster://h', 'jobs-{qjs}')).toBe('jobs-{qjs}')
})
