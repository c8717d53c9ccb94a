import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { createMetrics } from '../../../apps/api/http/telemetry/metrics.js'
import { type LimitName, type RateLimit, rateLimits } from '../../../domain/teams/rate-limits.js'
import {
  type Bucket,
  connectRateLimitRedis,
  createRateLimitStore,
  type RateLimitStore,
  type Taken
} from '../../../services/rate-limits/rate-limit-store.js'
import { openRedis } from '../../../services/redis/redis-connection.js'
import { readRedisSettings } from '../../../services/redis/redis-settings.js'
import { startMetrics } from '../../../services/telemetry/metrics-server.js'
import { startRelay } from '../../support/api/redis-relay.js'
import { eventually } from '../../support/eventually.js'

const url = process.env.TEST_REDIS_URL!
const prefix = `rate-limit-store-${process.pid}`
const direct = new Redis(url)
const clients: { disconnect(): void }[] = [direct]
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const client of clients) client.disconnect()
  for (const close of closing) await close()
})

/** The store of one API, with its metrics. With a time limit of its own, its connection has none. */
async function openStore(address = url, timeoutMs?: number) {
  const settings = readRedisSettings({ REDIS_URL: address })
  const redis = timeoutMs ? openRedis(settings, {}) : await connectRateLimitRedis(settings)
  clients.push(redis)
  const metrics = createMetrics()
  const log: string[] = []
  const store = createRateLimitStore(redis, prefix, {
    ...(timeoutMs && { timeoutMs }),
    failures: metrics.rateLimitStoreFailures,
    log: { warn: (_detail, message) => log.push(message), info: (message) => log.push(message) }
  })
  const failures = async () => (await metrics.rateLimitStoreFailures.get()).values[0]!.value
  return { store, redis, metrics, failures, log }
}

let callers = 0
/** A caller that has sent no request yet. */
const newCaller = () => `caller-${++callers}`
const limitOf = (max: number, windowSeconds: number, name: LimitName = 'submit'): RateLimit => ({
  name,
  max,
  windowSeconds,
  scope: 'user'
})
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const accepted = (answers: Taken[]): number => answers.filter((answer) => answer.ok).length

async function refusal(
  store: RateLimitStore,
  buckets: Bucket<RateLimit>[]
): Promise<{ limit: LimitName; seconds: number }> {
  const answer = await store.take(buckets)
  if (answer.ok) throw new Error('was let in')
  return { limit: answer.limit.name, seconds: answer.retryAfterSeconds }
}

/** Whole seconds to wait, told in time: so many from `began` on, less what has passed since. */
function expectLeft(told: number, seconds: number, began: number): void {
  const passed = (performance.now() - began) / 1000
  expect([told, told <= Math.ceil(seconds), told >= seconds - passed]).toEqual([told, true, true])
}

/** Ages a bucket by moving its entries back in time. */
async function age(key: string, seconds: number): Promise<void> {
  for (const entry of await direct.zrange(key, '0', '-1')) await direct.zincrby(key, -seconds * 1_000_000, entry)
}

/** The Redis keys that are created during `meanwhile`. */
async function newKeys(meanwhile: () => Promise<unknown>): Promise<string[]> {
  const before = new Set(await direct.keys(`${prefix}:*`))
  await meanwhile()
  return (await direct.keys(`${prefix}:*`)).filter((key) => !before.has(key))
}

async function newKey(meanwhile: () => Promise<unknown>): Promise<string> {
  const [key, ...more] = await newKeys(meanwhile)
  if (!key || more.length > 0) throw new Error(`${more.length + (key ? 1 : 0)} new keys`)
  return key
}

/** Long enough for a Redis that shares its core with other tests, since these tests check counts and not time limits. */
const PATIENCE_MS = 30_000
const { store, failures } = await openStore(url, PATIENCE_MS)

describe('of simultaneous requests,', () => {
  test.each([
    [1, 50],
    [10, 50],
    [49, 50],
    [50, 50]
  ])('exactly %p of %p are accepted', async (max, requests) => {
    const bucket = { limit: limitOf(max, 60), key: newCaller() }
    const began = performance.now()
    expect(accepted(await Promise.all(times(requests, () => store.take([bucket]))))).toBe(Math.min(max, requests))
    expectLeft((await refusal(store, [bucket])).seconds, 60, began)
  })

  test('exactly as many are accepted through several APIs', async () => {
    const stores = [store, ...(await Promise.all(times(2, () => openStore(url, PATIENCE_MS)))).map((api) => api.store)]
    const bucket = { limit: rateLimits.submit, key: newCaller() }
    const answers = await Promise.all(times(17, () => stores.map((each) => each.take([bucket]))).flat())
    expect([answers.length, accepted(answers)]).toEqual([51, 10])
  })

  test('the ones of another caller, or under another limit of the same caller, are not affected', async () => {
    const [one, other] = [newCaller(), newCaller()]
    await Promise.all(times(50, () => store.take([{ limit: rateLimits.submit, key: one }])))
    expect(accepted(await Promise.all(times(50, () => store.take([{ limit: rateLimits.submit, key: other }]))))).toBe(
      10
    )
    expect(accepted(await Promise.all(times(50, () => store.take([{ limit: rateLimits.secrets, key: one }]))))).toBe(20)
  })

  test('the least free of several windows decides, and no other window loses a slot to a refusal', async () => {
    const [user, team] = [newCaller(), newCaller()]
    const ofUser = { limit: limitOf(30, 60), key: user }
    const ofTeam = { limit: limitOf(12, 3600, 'submitTeam'), key: team }
    const began = performance.now()
    const refusedByTeam = async () => {
      const { limit, seconds } = await refusal(store, [ofUser, ofTeam])
      expect(limit).toBe('submitTeam')
      expectLeft(seconds, 3600, began)
    }
    expect(accepted(await Promise.all(times(50, () => store.take([ofUser, ofTeam]))))).toBe(12)
    await refusedByTeam()
    // 18 of 30 are left: 12 were taken, whatever the order of the windows.
    expect((await refusal(store, [ofTeam, ofUser])).limit).toBe('submitTeam')
    expect(accepted(await Promise.all(times(50, () => store.take([ofUser]))))).toBe(18)
    // Both are full, and the longer wait is reported.
    await refusedByTeam()
  })

  test('a bucket that is named twice loses one slot', async () => {
    const bucket = { limit: limitOf(2, 60), key: newCaller() }
    expect((await store.take([bucket, bucket])).ok).toBe(true)
    expect((await store.take([bucket])).ok).toBe(true)
    expect((await store.take([bucket])).ok).toBe(false)
  })
})

describe('Retry-After', () => {
  test('is the time until the oldest entry leaves the window, rounded up to whole seconds', async () => {
    const bucket = { limit: limitOf(3, 60), key: newCaller() }
    const began = performance.now()
    const key = await newKey(() => store.take([bucket]))
    await age(key, 29.5)
    await store.take([bucket])
    await store.take([bucket])
    expectLeft((await refusal(store, [bucket])).seconds, 30.5, began)
    await age(key, 20)
    expectLeft((await refusal(store, [bucket])).seconds, 10.5, began)
    await age(key, 10.5)
    // The oldest has left; two are in, a third may come, and then the two of 30.5 s ago are the oldest.
    expect((await store.take([bucket])).ok).toBe(true)
    expectLeft((await refusal(store, [bucket])).seconds, 29.5, began)
  })

  test('is exact: a request is refused before that time and accepted after it', async () => {
    const bucket = { limit: limitOf(2, 2), key: newCaller() }
    const started = performance.now()
    // All at once, so that the first is still in the window when the third is refused.
    const [, , third] = await Promise.all(times(3, () => store.take([bucket])))
    const refusedAt = performance.now()
    if (third!.ok) throw new Error('was let in')
    expect(third!.retryAfterSeconds).toBeLessThanOrEqual(2)
    let lastRefused = 0
    await eventually(
      async () => {
        const sent = performance.now()
        const { ok } = await store.take([bucket])
        if (!ok) lastRefused = sent
        return ok
      },
      { everyMs: 10 }
    )
    expect(performance.now() - started).toBeGreaterThanOrEqual(2_000)
    expect(lastRefused - refusedAt).toBeLessThan(third!.retryAfterSeconds * 1000)
  })

  test('of a day is given in seconds', async () => {
    const bucket = { limit: limitOf(1, 86_400, 'submitTeam'), key: newCaller() }
    const began = performance.now()
    const key = await newKey(() => store.take([bucket]))
    expectLeft((await refusal(store, [bucket])).seconds, 86_400, began)
    await age(key, 86_340.5)
    expectLeft((await refusal(store, [bucket])).seconds, 59.5, began)
    await age(key, 59.5)
    expect((await store.take([bucket])).ok).toBe(true)
  })

  test('after a limit was lowered is the time until enough entries have left', async () => {
    const key = newCaller()
    const began = performance.now()
    const stored = await newKey(() => store.take([{ limit: limitOf(5, 60), key }]))
    for (let n = 0; n < 4; n++) {
      await age(stored, 10)
      await store.take([{ limit: limitOf(5, 60), key }])
    }
    // Entries of 40, 30, 20, 10 and 0 s ago: with three at most, the one of 20 s ago has to leave too.
    expectLeft((await refusal(store, [{ limit: limitOf(3, 60), key }])).seconds, 40, began)
  })

  test('is never longer than the window, even after the clock of Redis was set back', async () => {
    const bucket = { limit: limitOf(1, 60), key: newCaller() }
    const began = performance.now()
    const key = await newKey(() => store.take([bucket]))
    await age(key, -7200)
    expect((await store.take([bucket])).ok).toBe(true)
    expectLeft((await refusal(store, [bucket])).seconds, 60, began)
  })
})

describe('a window slides', () => {
  test('and releases one slot for each entry that leaves', async () => {
    const bucket = { limit: limitOf(4, 60), key: newCaller() }
    const key = await newKey(() => Promise.all(times(3, () => store.take([bucket]))))
    await age(key, 40)
    expect(accepted(await Promise.all(times(10, () => store.take([bucket]))))).toBe(1)
    await age(key, 20)
    expect(accepted(await Promise.all(times(10, () => store.take([bucket]))))).toBe(3)
  })

  test('and is not kept full by refused requests', async () => {
    const bucket = { limit: limitOf(2, 60), key: newCaller() }
    const key = await newKey(() => Promise.all(times(100, () => store.take([bucket]))))
    await age(key, 60)
    expect((await store.take([bucket])).ok).toBe(true)
  })

  test('and its key expires soon after its last entry', async () => {
    const began = performance.now()
    const key = await newKey(() => store.take([{ limit: limitOf(5, 60), key: newCaller() }]))
    const left = await direct.pttl(key)
    expect(left + performance.now() - began).toBeGreaterThan(60_000)
    expect(left).toBeLessThanOrEqual(61_000)
  })
})

describe('a released slot', () => {
  test('is free again in all its windows, and is released only once', async () => {
    const ofUser = { limit: limitOf(2, 60), key: newCaller() }
    const ofTeam = { limit: limitOf(2, 3600, 'submitTeam'), key: newCaller() }
    await store.take([ofUser, ofTeam])
    const taken = await store.take([ofUser, ofTeam])
    expect((await store.take([ofUser, ofTeam])).ok).toBe(false)
    if (!taken.ok) throw new Error('was refused')
    await taken.giveBack()
    await taken.giveBack()
    for (const bucket of [ofUser, ofTeam])
      expect(accepted(await Promise.all(times(5, () => store.take([bucket]))))).toBe(1)
  })
})

test('a caller of any length and alphabet gets one key of bounded length that does not contain its name', async () => {
  const names = ['198.51.100.1', 'x'.repeat(100_000), 'a:b', 'a b', '\u0000', 'é', '', `${newCaller()}\r\nFLUSHALL`]
  const keys = await newKeys(async () => {
    for (const key of names) {
      const bucket = { limit: limitOf(1, 60), key }
      expect([(await store.take([bucket])).ok, (await store.take([bucket])).ok]).toEqual([true, false])
    }
  })
  expect(keys.length).toBe(names.length)
  for (const key of keys) expect(key).toMatch(new RegExp(`^${prefix}:rate-limits:submit:[\\w-]{22}$`))
})

test('requests are still counted after the scripts of Redis were flushed', async () => {
  const bucket = { limit: limitOf(1, 60), key: newCaller() }
  await direct.script('FLUSH')
  expect([(await store.take([bucket])).ok, (await store.take([bucket])).ok]).toEqual([true, false])
})

/** Keeps this process busy until Redis has stored so many entries, which another process sees. */
function busyUntilStored(entries: number, key: string): void {
  const script = `
    const { hostname, port, password } = new URL(process.env.TEST_REDIS_URL)
    const socket = require('node:net').connect(Number(port), hostname)
    socket.on('data', (reply) => {
      if (String(reply) === ':${entries}\\r\\n') process.exit()
      socket.write('ZCARD ${key}\\r\\n')
    })
    socket.write('AUTH ' + decodeURIComponent(password) + '\\r\\n')`
  execFileSync(process.execPath, ['-e', script], { timeout: 50_000 })
}

test('an API that was busy for longer than the time limit still reads the reply of Redis', async () => {
  const impatient = await openStore(url, 100)
  await eventually(() => impatient.redis.status === 'ready')
  const bucket = { limit: limitOf(2, 60), key: newCaller() }
  const key = await newKey(() => store.take([bucket]))
  const answer = impatient.store.take([bucket])
  const busyUntil = performance.now() + 250
  busyUntilStored(2, key)
  while (performance.now() < busyUntil);
  expect([(await answer).ok, await impatient.failures(), (await store.take([bucket])).ok]).toEqual([true, 0, false])
})

test('in all tests above, the store counted no failure', async () => {
  expect(await failures()).toBe(0)
})

/** An address without a listener. */
const deadUrl = 'redis://127.0.0.1:2'

describe('when Redis is', () => {
  const full = { limit: limitOf(1, 60), key: newCaller() }

  /** How many simultaneous accepted requests have to wait for anything outside this process. */
  async function heldUp(requests: number, { take }: RateLimitStore, bucket: Bucket): Promise<number> {
    let waiting = requests
    const answers = times(requests, () => take([bucket]).finally(() => waiting--))
    await new Promise(setImmediate)
    const held = waiting
    expect(accepted(await Promise.all(answers))).toBe(requests)
    return held
  }

  test.each(['away', 'silent'] as const)(
    '%s from the start, requests do not wait, and each is counted as unlimited',
    async (fate) => {
      const relay = await startRelay(url, closing)
      relay.become(fate)
      for (const address of fate === 'away' ? [relay.url, deadUrl] : [relay.url]) {
        const opened = await openStore(address)
        expect(await heldUp(30, opened.store, full)).toBe(0)
        expect(await opened.failures()).toBe(30)
        expect(opened.log.length).toBe(1)
      }
    }
  )

  test.each(['away', 'silent', 'lost'] as const)('%s for a while, limits apply again soon after', async (fate) => {
    const relay = await startRelay(url, closing)
    const opened = await openStore(relay.url)
    await eventually(() => opened.redis.status === 'ready')
    const bucket = { limit: limitOf(1, 60), key: newCaller() }
    // Through the patient store, since the other one also lets a request through when Redis is only slow.
    expect([(await store.take([bucket])).ok, (await store.take([bucket])).ok]).toEqual([true, false])

    relay.become(fate)
    const answers = times(20, () => opened.store.take([bucket]))
    // A timer of the same process: however busy the machine, it fires after those that end the requests.
    let isLate = false
    setTimeout(() => setImmediate(() => (isLate = true)), 300)
    expect(accepted(await Promise.all(answers))).toBe(20)
    expect(isLate).toBe(false)
    // Requests do not wait now, except for one each second that tries Redis again.
    expect(await heldUp(200, opened.store, bucket)).toBeLessThanOrEqual(1)
    expect(await opened.failures()).toBe(220)

    if (fate !== 'lost') relay.become('open')
    await eventually(async () => accepted(await Promise.all(times(20, () => opened.store.take([bucket])))) === 0)
    // Once each, and once more each where Redis was too slow for a moment.
    const lines = ['Redis does not count requests; rate limits do not hold until it does', 'rate limits hold again']
    expect([opened.log.slice(0, 2), opened.log.at(-1)]).toEqual([lines, lines[1]])
    expect(opened.log).toEqual(opened.log.map((_, at) => lines[at % 2]))
  })

  test('silent for long, one request a second waits for it and all others do not', async () => {
    const relay = await startRelay(url, closing)
    const opened = await openStore(relay.url)
    relay.become('silent')
    await opened.store.take([full])
    const started = performance.now()
    let waited = 0
    await eventually(
      async () => {
        waited += await heldUp(10, opened.store, full)
        return performance.now() - started > 2_500
      },
      { everyMs: 5 }
    )
    expect(waited).toBeLessThanOrEqual(3)
  })

  test('returning errors, requests are accepted and counted', async () => {
    const opened = await openStore(url, PATIENCE_MS)
    const bucket = { limit: limitOf(1, 60), key: newCaller() }
    const key = await newKey(() => opened.store.take([bucket]))
    await direct.set(key, 'no sorted set')
    expect((await opened.store.take([bucket])).ok).toBe(true)
    expect(await opened.failures()).toBe(1)
    expect(opened.log.length).toBe(1)
  })
})

describe('the metrics', () => {
  test('show failures and requests on a separate port that serves nothing else', async () => {
    const opened = await openStore(deadUrl)
    const { registry, observeRequest } = opened.metrics
    const server = await startMetrics({ registry }, '127.0.0.1', 0)
    closing.push(() => server.close())
    const base = `http://127.0.0.1:${server.port}`
    await opened.store.take([{ limit: rateLimits.read, key: newCaller() }])
    observeRequest({ method: 'GET', route: '/api/jobs/:id', status: 200, seconds: 0.004 })
    observeRequest({ method: 'GET', route: '/api/jobs/:id', status: 204, seconds: 0.4 })
    observeRequest({ method: 'BREW', route: undefined, status: 404, seconds: 0.001 })

    const answer = await fetch(`${base}/metrics`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, registry.contentType])
    const text = await answer.text()
    expect(text).toMatch(/^qjs_rate_limit_store_failures_total 1$/m)
    const seen = 'method="GET",route="/api/jobs/:id",status="2xx"'
    expect(text).toContain(`qjs_http_request_duration_seconds_count{${seen}} 2`)
    expect(text).toContain(`qjs_http_request_duration_seconds_bucket{le="0.005",${seen}} 1`)
    expect(text).toContain('_count{method="other",route="none",status="4xx"} 1')

    for (const [path, method, status] of [
      ['/', 'GET', 404],
      ['/metrics/', 'GET', 404],
      ['/api/backends', 'GET', 404],
      ['/metrics', 'POST', 405]
    ] as const)
      expect((await fetch(`${base}${path}`, { method })).status).toBe(status)
  })

  test('are not started on a port that is taken', async () => {
    const { registry } = createMetrics()
    const server = await startMetrics({ registry }, '127.0.0.1', 0)
    closing.push(() => server.close())
    await expect(startMetrics({ registry }, '127.0.0.1', server.port)).rejects.toThrow('EADDRINUSE')
  })

  test('of two APIs in one process are separate', async () => {
    const [one, other] = [createMetrics(), createMetrics()]
    one.rateLimitStoreFailures.inc()
    expect(await other.registry.metrics()).toMatch(/^qjs_rate_limit_store_failures_total 0$/m)
  })
})
