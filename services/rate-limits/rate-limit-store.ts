// Counts requests for the rate limits, exactly and across all apis that share one Redis: every admitted request leaves an entry
// with its time, and a window holds the entries of its last seconds. The limits only protect the service from load, so when
// Redis is unavailable, slow or full, requests go through, and a metric counts them.
//
// Hand-made: a request takes a slot in several sliding windows at once or in none, in one round trip, which the libraries for
// rate limits do not offer.
import { createHash, randomBytes } from 'node:crypto'
import { wholeSeconds } from '../../domain/teams/rate-limits.js'
import { openRedis, type RedisConnection } from '../redis/redis-connection.js'
import type { RedisSettings } from '../redis/redis-settings.js'

/** At most `max` requests within any `windowSeconds` seconds; limits of one name share their windows. */
export interface CountedLimit {
  name: string
  max: number
  windowSeconds: number
}

/** One window that a request takes a slot of. */
export interface Bucket<Limit extends CountedLimit = CountedLimit> {
  limit: Limit
  /** Who is counted: id of the user, API key or team, or `addressKey` of the caller. Any length; it is hashed. */
  key: string
}

export type Taken<Limit extends CountedLimit = CountedLimit> =
  /** `giveBack` frees the slots again, for a request that should not count after all; it never rejects. */
  | { ok: true; giveBack(): Promise<void> }
  /** The limit whose window frees a slot last, and after how many whole seconds it does. */
  | { ok: false; limit: Limit; retryAfterSeconds: number }

export interface RateLimitStore {
  /**
   * Takes one slot of each bucket, or none at all: a refused request does not use up a slot. A bucket named twice is taken
   * once. Never rejects, and resolves within `timeoutMs`, even without Redis.
   */
  take<Limit extends CountedLimit>(buckets: Bucket<Limit>[]): Promise<Taken<Limit>>
}

export interface RateLimitStoreOptions {
  /** Counts each request that was let through because the store was unavailable. */
  failures?: { inc(): void }
  /** Logs once when the store fails, and once when it works again. */
  log?: { warn(detail: object, message: string): void; info(message: string): void }
  /** How long a request waits for Redis. Default: 100 ms. */
  timeoutMs?: number
  /** How long to wait after a failure before one request tries the store again. Default: 1 s. */
  retryMs?: number
}

// KEYS: a sorted set for each bucket: entries by their time in microseconds, which a double holds exactly.
// ARGV: the new entry, then `max` and the window in microseconds of each bucket.
// Returns { 0, 0 }, or the number of the bucket that stays full longest, and for how many microseconds it stays full.
// The time is that of Redis, so the clocks of the apis need not agree. Entries with a future time were made before its clock
// was set back, and are removed too. The key expires a second after its entries: its expiry only cleans up and never affects
// a decision.
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full, wait = 0, 0
for i, key in ipairs(KEYS) do
  local max, window = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  redis.call('ZREMRANGEBYSCORE', key, string.format('(%.0f', now), '+inf')
  local excess = redis.call('ZCARD', key) - max
  if excess >= 0 then
    local entry = redis.call('ZRANGE', key, excess, excess, 'WITHSCORES')
    local free = tonumber(entry[2]) + window - now
    if free > wait then full, wait = i, free end
  end
end
if full > 0 then return { full, wait } end
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now, ARGV[1])
  redis.call('PEXPIRE', key, math.ceil(ARGV[2 * i + 1] / 1000) + 1000)
end
return { 0, 0 }`

interface Commands {
  takeSlots(keyCount: number, ...keysAndValues: (string | number)[]): Promise<[full: number, wait: number]>
}

const CONNECT_WAIT_MS = 1_000

/**
 * Opens a connection for the store only, which fails at once instead of queueing commands, and keeps trying to connect.
 * @returns the connection, to be closed with `disconnect`.
 */
export function openRateLimitRedis(settings: RedisSettings): RedisConnection {
  return openRedis(settings, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: 1_000,
    disconnectTimeout: 200,
    // Without this, a connection whose other end vanished silently would be waited for until TCP gives up, many minutes later.
    socketTimeout: 2_000,
    retryStrategy: (times) => Math.min(100 * times, 1_000)
  })
}

/** The same; resolves when it is ready, or after a second. */
export async function connectRateLimitRedis(settings: RedisSettings): Promise<RedisConnection> {
  const redis = openRateLimitRedis(settings)
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CONNECT_WAIT_MS)
    redis.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  return redis
}

/** @param prefix starts the name of every key, so that a Redis can be shared; in a cluster it puts all keys into one slot. */
export function createRateLimitStore(
  redis: RedisConnection,
  prefix: string,
  options: RateLimitStoreOptions = {}
): RateLimitStore {
  const { failures, log, timeoutMs = 100, retryMs = 1_000 } = options
  redis.defineCommand('takeSlots', { lua: takeScript })
  const commands = redis as unknown as Commands
  const writer = randomBytes(9).toString('base64url')
  let entries = 0
  let failing = false
  let leftAloneUntil = 0

  const keyOf = ({ limit, key }: Bucket): string =>
    `${prefix}:rate-limits:${limit.name}:${createHash('sha256').update(key).digest('base64url').slice(0, 22)}`

  return {
    async take(buckets) {
      const distinct = new Map(buckets.map((bucket) => [keyOf(bucket), bucket]))
      if (distinct.size === 0 || leftAlone()) return { ok: true, giveBack: async () => {} }
      const keys = [...distinct.keys()]
      const limits = [...distinct.values()].map(({ limit }) => limit)
      const entry = `${writer}${(entries++).toString(36)}`
      const rules = limits.flatMap(({ max, windowSeconds }) => [max, Math.round(windowSeconds * 1_000_000)])
      try {
        const [full, wait] = await within(timeoutMs, commands.takeSlots(keys.length, ...keys, entry, ...rules))
        works()
        if (full > 0) return { ok: false, limit: limits[full - 1]!, retryAfterSeconds: wholeSeconds(wait) }
        return { ok: true, giveBack: () => giveBack(keys, entry) }
      } catch (error) {
        fails(error)
        return { ok: true, giveBack: async () => {} }
      }
    }
  }

  /** While the store fails, one request per `retryMs` tries it, and the others do not wait. */
  function leftAlone(): boolean {
    if (!failing) return false
    const now = performance.now()
    if (now < leftAloneUntil) {
      failures?.inc()
      return true
    }
    leftAloneUntil = now + retryMs
    return false
  }

  function works(): void {
    if (!failing) return
    failing = false
    log?.info('rate limits hold again')
  }

  function fails(error: unknown): void {
    failures?.inc()
    leftAloneUntil = performance.now() + retryMs
    if (failing) return
    failing = true
    log?.warn({ err: error }, 'Redis does not count requests; rate limits do not hold until it does')
  }

  async function giveBack(keys: string[], entry: string): Promise<void> {
    if (failing) return
    const pipeline = redis.pipeline()
    for (const key of keys) pipeline.zrem(key, entry)
    // A slot that stays taken is free again when the window has passed.
    await within(timeoutMs, pipeline.exec()).catch(() => {})
  }
}

/**
 * Resolves with the response unless it takes longer than `ms`. A process that was busy for that long runs the timer before it
 * reads its sockets: a response that already waits there still counts, or else load would switch the limits off.
 */
function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new Error(`Redis did not respond within ${ms} ms`)))
    }, ms)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
