// TLS towards Redis: who is trusted, and who is not.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createDirectQueue } from '../../../services/dispatch/direct-queue.js'
import { connectRateLimitRedis, createRateLimitStore } from '../../../services/rate-limits/rate-limit-store.js'
import { readRedisSettings } from '../../../services/redis/redis-settings.js'
import { redisServers } from '../../support/redis/redis-servers.js'

const servers = redisServers('redis-tls', { tls: true })
let env: Record<string, string>
beforeAll(async () => {
  env = (await servers.single()).env
})
afterAll(() => servers.close())

/** Whether the direct queue reaches Redis. */
async function reaches(changed: Record<string, string | undefined>): Promise<boolean> {
  const queue = createDirectQueue(readRedisSettings({ ...env, ...changed }), 'redis-tls')
  try {
    await queue.ping()
    return true
  } catch {
    return false
  } finally {
    await queue.close()
  }
}

test('a server with a certificate of the named authority, for its own address, is trusted', async () => {
  expect(await reaches({})).toBe(true)
})

test.each([
  ['no authority is named', { REDIS_TLS_CA: undefined }],
  ['this process has no certificate of its own', { REDIS_TLS_CERT: undefined, REDIS_TLS_KEY: undefined }],
  ['the certificate is for another name', { REDIS_TLS_SERVER_NAME: 'redis.example.org' }]
])('no connection is made when %s', async (_when, changed) => {
  expect(await reaches(changed)).toBe(false)
})

test('rate limits hold over TLS', async () => {
  const redis = await connectRateLimitRedis(readRedisSettings(env))
  const store = createRateLimitStore(redis, 'redis-tls', { timeoutMs: 10_000 })
  const take = async () =>
    (await store.take([{ limit: { name: 'of-a-test', max: 2, windowSeconds: 3_600 }, key: 'a caller' }])).ok
  expect([await take(), await take(), await take()]).toEqual([true, true, false])
  redis.disconnect()
})
