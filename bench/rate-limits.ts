// What a request pays for its rate limits: one check, against a bare round trip to the same Redis in the same run.
import { Redis } from 'ioredis'
import {
  connectRateLimitRedis,
  createRateLimitStore,
  type RateLimitStore
} from '../apps/api/http/limits/rate-limit-store.js'
import { type RateLimit, rateLimits } from '../domain/teams/rate-limits.js'
import type { BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const WARM_UP = 500
const CHECKS = 3_000
const CALLERS = 20
const P50_GOAL_MS = 0.5
const BARE = 'bare PING'

export async function benchRateLimits(stack: BenchStack): Promise<void> {
  const redis = await connectRateLimitRedis(stack.redisUrl)
  const bare = new Redis(stack.redisUrl)
  let failures = 0
  const store = createRateLimitStore(redis, 'bench_rate_limits', { failures: { inc: () => failures++ } })
  const rows: string[][] = []
  const measure = async (label: string, clients: number, check: (n: number) => Promise<unknown>) => {
    await inTurns(WARM_UP, clients, check)
    const times = await inTurns(CHECKS, clients, check)
    const p50 = median(times)
    const verdict =
      clients > 1 || label === BARE ? '' : `goal p50 <= ${P50_GOAL_MS} ms: ${p50 <= P50_GOAL_MS ? 'reached' : 'missed'}`
    rows.push([label, String(clients), p50.toFixed(3), quantile(times, 0.99).toFixed(3), verdict])
  }
  try {
    const full = { limit: { ...rateLimits.poll, windowSeconds: 3600 }, key: 'who has asked too often' }
    for (let n = 0; n < full.limit.max; n++) await store.take([full])
    const wide = (limit: RateLimit): RateLimit => ({ ...limit, max: 1_000_000 })
    const [read, submit, submitTeam] = [rateLimits.read, rateLimits.submit, rateLimits.submitTeam].map(wide)
    for (const clients of [1, 10]) {
      await measure(BARE, clients, () => bare.ping())
      await measure('one window, let in', clients, (n) => letIn(store, [{ limit: read!, key: `${n % CALLERS}` }]))
      await measure('two windows, let in', clients, (n) =>
        letIn(store, [
          { limit: submit!, key: `${n % CALLERS}` },
          { limit: submitTeam!, key: 'the team' }
        ])
      )
      await measure('a full window, refused', clients, async () => {
        if ((await store.take([full])).ok) throw new Error('a full window let somebody in')
      })
    }
  } finally {
    redis.disconnect()
    bare.disconnect()
  }
  if (failures > 0) throw new Error(`${failures} checks were not made, so these figures say nothing`)
  printTable('Check of a rate limit', ['case', 'clients', 'p50 ms', 'p99 ms', ''], rows)
}

async function letIn(store: RateLimitStore, buckets: Parameters<RateLimitStore['take']>[0]): Promise<void> {
  if (!(await store.take(buckets)).ok) throw new Error('a window that is not full refused somebody')
}

/** Milliseconds of each of `count` calls, `clients` of them at once. */
async function inTurns(count: number, clients: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
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
