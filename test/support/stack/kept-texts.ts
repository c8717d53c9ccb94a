// Everything that a platform keeps, as text: for tests of what must not be in it.
import { sql } from 'drizzle-orm'
import { Redis } from 'ioredis'
import { historyText } from './history-text.js'
import type { Platform } from './platform.js'
import type { ProviderPlatform } from './provider-platform.js'

/** By its place, such as `table jobs`. Bytes of the database are in hex. */
export type KeptTexts = Map<string, string>

/** @param jobs those with a workflow whose history is read. */
export async function keptTexts(platform: ProviderPlatform, jobs: readonly string[]): Promise<KeptTexts> {
  const kept: KeptTexts = new Map()
  for (const part of ['api', 'worker'] as const) kept.set(`log of ${part}`, platform.logText(part))
  for (const id of jobs)
    kept.set(`history of ${id}`, historyText(await platform.workflow(id, (handle) => handle.fetchHistory())))
  for (const [table, text] of await tableTexts(platform)) kept.set(`table ${table}`, text)
  kept.set('Redis', await redisText(platform))
  return kept
}

async function tableTexts({ connection: { db } }: Platform): Promise<[string, string][]> {
  const tables = await db.execute<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  )
  return Promise.all(
    [...tables].map(async ({ name }): Promise<[string, string]> => {
      const rows = await db.execute<{ text: string }>(sql`select row::text as text from ${sql.identifier(name)} row`)
      return [name, [...rows].map(({ text }) => text).join('\n')]
    })
  )
}

/** Every key that names the platform's queues, with its value. */
async function redisText({ settings }: Platform): Promise<string> {
  const redis = new Redis(settings.REDIS_URL!)
  try {
    const found: string[] = []
    for await (const keys of redis.scanStream({ match: `*${settings.QUEUE_PREFIX}*`, count: 1_000 }))
      for (const key of keys as string[]) found.push(key, await readKey(redis, key))
    return found.join('\n')
  } finally {
    redis.disconnect()
  }
}

async function readKey(redis: Redis, key: string): Promise<string> {
  const read: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, -1),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, 0, '-1'),
    stream: () => redis.xrange(key, '-', '+')
  }
  const type = await redis.type(key)
  return JSON.stringify((await read[type]?.()) ?? type)
}

/** The places that contain one of the texts, whatever its case, or its bytes in hex. */
export function placesOf(texts: readonly string[], kept: KeptTexts): string[] {
  const forms = texts.flatMap((text) => [text.toLowerCase(), Buffer.from(text).toString('hex')])
  return [...kept].filter(([, text]) => forms.some((form) => text.toLowerCase().includes(form))).map(([place]) => place)
}
