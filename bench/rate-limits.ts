// The time of a rate limit check, against a bare round trip to the same Redis in the same run.
import { Redis } from 'ioredis'
import { type RateLimit, rateLimits } from '../domain/teams/rate-limits.js'
import {
  connectRateLimitRedis,
  createRateLimitStore,
  type RateLimitStore
} from '../services/rate-limits/rate-limit-store.js'
import { readRedisSettings } from '../services/redis/redis-settings.js'
import type { BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const WARM_UP = 500
const ROUNDS = 3
const CHECKS = 1_000
const CALLERS = 20
const P50_GOAL_MS = 0.5
const BARE = 'bare PING'

export async function benchRateLimits(stack: BenchStack): Promise<void> {
  const redis = await connectRateLimitRedis(readRedisSettings({ REDIS_URL: stack.redisUrl }))
  const bare = new Redis(stack.redisUrl)
  let failures = 0
  const store = createRateLimitStore(redis, 'bench_rate_limits', { failures: { inc: () => failures++ } })
  const rows: string[][] = []
  try {
    const full = { limit: { ...rateLimits.poll, windowSeconds: 3600 }, key: 'a caller over the limit' }
    for (let n = 0; n < full.limit.max; n++) await store.take([full])
    const wide = (limit: RateLimit): RateLimit => ({ ...limit, max: 1_000_000 })
    const [read, submit, submitTeam] = [rateLimits.read, rateLimits.submit, rateLimits.submitTeam].map(wide)
    const cases: [label: string, check: (n: number) => Promise<unknown>][] = [
      [BARE, () => bare.ping()],
      ['one window, admitted', (n) => admit(store, [{ limit: read!, key: `${n % CALLERS}` }])],
      [
        'two windows, admitted',
        (n) =>
          admit(store, [
            { limit: submit!, key: `${n % CALLERS}` },
            { limit: submitTeam!, key: 'the team' }
          ])
      ],
      [
        'a full window, refused',
        async () => {
          if ((await store.take([full])).ok) throw new Error('a full window admitted a request')
        }
      ]
    ]
    for (const clients of [1, 10]) {
      const times = cases.map((): number[] => [])
      for (const [, check] of cases) await timesOf(WARM_UP, clients, check)
      // In turns, so that other load on the machine affects all cases.
      for (let round = 0; round < ROUNDS; round++)
        for (const [at, [, check]] of cases.entries()) times[at]!.push(...(await timesOf(CHECKS, clients, check)))
      for (const [at, [label]] of cases.entries()) rows.push(rowOf(label, clients, times[at]!))
    }
  } finally {
    redis.disconnect()
    bare.disconnect()
  }
  if (failures > 0) throw new Error(`${failures} checks failed, so these figures are invalid`)
  printTable('Rate limit check', ['case', 'clients', 'p50 ms', 'p99 ms', ''], rows)
}

function rowOf(label: string, clients: number, times: number[]): string[] {
  const p50 = median(times)
  const verdict =
    clients > 1 || label === BARE ? '' : `goal p50 <= ${P50_GOAL_MS} ms: ${p50 <= P50_GOAL_MS ? 'reached' : 'missed'}`
  return [label, String(clients), p50.toFixed(3), quantile(times, 0.99).toFixed(3), verdict]
}

async function admit(store: RateLimitStore, buckets: Parameters<RateLimitStore['take']>[0]): Promise<void> {
  if (!(await store.take(buckets)).ok) throw new Error('a window that is not full refused a request')
}

/** Milliseconds of each of `count` calls, with `clients` calls at the same time. */
async function timesOf(count: number, clients: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  let next = 0
  const client = async () => {
    while (next < count) {
      const started = performance.now()
      await call(next++)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return times
}
