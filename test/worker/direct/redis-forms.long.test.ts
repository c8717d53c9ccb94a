// Direct jobs and rate limits through each form of Redis, with real servers.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import pino from 'pino'
import { startDirectConsumer } from '../../../apps/worker/direct/direct-consumer.js'
import { createLeasedJobs } from '../../../apps/worker/direct/leased-jobs.js'
import { createDirectQueue } from '../../../services/dispatch/direct-queue.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { connectRateLimitRedis, createRateLimitStore } from '../../../services/rate-limits/rate-limit-store.js'
import { keyPrefixAt, type RedisSettings, readRedisSettings } from '../../../services/redis/redis-settings.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { redisServers } from '../../support/redis/redis-servers.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { tcpProxy } from '../../support/stack/tcp-proxy.js'

const database = await createTestDatabase('redis-forms')
const { db } = database
const log = pino({ level: 'silent' })
const executor = createExecutorClient(process.env.TEST_EXECUTOR_URL!, process.env.TEST_EXECUTOR_TOKEN!)
afterAll(async () => {
  await executor.close()
  await database.drop()
})

/** Jobs that are handed over as the dispatcher does, and run by the consumer of a worker. */
async function runJobs(settings: RedisSettings, prefix: string): Promise<void> {
  const person = await addPerson(db)
  const queue = createDirectQueue(settings, prefix)
  const leased = createLeasedJobs(db, 1_000, log)
  const consumer = startDirectConsumer(
    {
      db,
      gate: gateTo(executor, 2),
      announce() {},
      countFault() {},
      countRepeatedStep() {},
      log,
      leased
    },
    { redis: settings, prefix, around: (_, work) => work(), log }
  )
  const ids: string[] = []
  for (let job = 0; job < 4; job++) ids.push(await addJob(db, person, { submission: { mode: 'direct' } }))
  const entries = ids.map((jobId) => ({ name: 'run', data: { jobId, generation: 1 }, opts: { jobId: `${jobId}-1` } }))
  await eventually(() => queue.queue.addBulk(entries))
  // The executor is that of all test files.
  await eventually(async () => {
    const rows = await db.execute(sql`select status from jobs where id::text in ${ids}`)
    return rows.every(({ status }) => status === 'completed')
  })
  expect(await queue.queue.getWorkersCount()).toBe(1)
  expect(await queue.ping()).toBeDefined()
  await eventually(async () => (await queue.queue.getJobCountByTypes('waiting', 'active', 'failed')) === 0)
  await consumer.close(10_000)
  await leased.close()
  await queue.close()
}

/** Windows of several names in one call, as a request takes them. */
async function limit(settings: RedisSettings, prefix: string): Promise<void> {
  const redis = await connectRateLimitRedis(settings)
  const store = createRateLimitStore(redis, prefix, { timeoutMs: 10_000, retryMs: 0 })
  const take = () =>
    store.take([
      { limit: { name: 'narrow', max: 2, windowSeconds: 3_600 }, key: 'a caller' },
      { limit: { name: 'wide', max: 100, windowSeconds: 3_600 }, key: 'another key, and so another slot' }
    ])
  // A connection that is still being made lets requests through.
  await eventually(async () => !(await take()).ok)
  const [refused, other] = [
    await take(),
    await store.take([{ limit: { name: 'narrow', max: 2, windowSeconds: 3_600 }, key: 'b' }])
  ]
  expect(refused).toMatchObject({ ok: false, limit: { name: 'narrow' } })
  expect(other.ok).toBe(true)
  redis.disconnect()
}

type Servers = ReturnType<typeof redisServers>
const forms: [string, boolean, (servers: Servers) => Promise<{ env: Record<string, string> }>][] = [
  ['one server', true, (servers) => servers.single()],
  ['a primary that Sentinels name', false, (servers) => servers.sentinel(3)],
  ['a primary that a Sentinel names', true, (servers) => servers.sentinel(1)],
  ['a cluster', false, (servers) => servers.cluster(null)],
  ['a cluster', true, (servers) => servers.cluster(null)]
]

describe.each(forms)('%s, TLS: %s', (what, tls, start) => {
  const servers = redisServers(`redis-forms-${what.replaceAll(' ', '-')}`, { tls })
  afterAll(() => servers.close())

  test('direct jobs run, and rate limits hold', async () => {
    const { env } = await start(servers)
    const settings = readRedisSettings(env)
    const prefix = keyPrefixAt(settings, database.name)
    await runJobs(settings, prefix)
    await limit(settings, prefix)
  }, 180_000)
})

test('an open connection to a server that becomes a replica is made anew, to where its address leads then', async () => {
  const servers = redisServers('redis-forms-moved')
  const { primary, replica } = await servers.pair()
  const proxy = await tcpProxy({ host: '127.0.0.1', port: primary.port })
  const queue = createDirectQueue(readRedisSettings(servers.envAt(proxy.port)), database.name)
  const add = (jobId: string) =>
    queue.queue.add('run', { jobId, generation: 1 }, { jobId }).then(
      () => true,
      () => false
    )
  await eventually(() => add('before'))
  await replica.redis.call('REPLICAOF', 'NO', 'ONE')
  await primary.redis.call('REPLICAOF', '127.0.0.1', replica.port)
  proxy.lead({ host: '127.0.0.1', port: replica.port })
  expect(await add('to the replica')).toBe(false)
  await eventually(() => add('after'))
  expect(await replica.redis.exists(queue.queue.toKey('after'))).toBe(1)
  await queue.close()
  await proxy.close()
  await servers.close()
}, 60_000)

test('a Sentinel that hangs is left for the next one', async () => {
  const servers = redisServers('redis-forms-hung')
  const { sentinels, env } = await servers.sentinel(3)
  process.kill(sentinels[0]!.pid, 'SIGSTOP')
  const queue = createDirectQueue(readRedisSettings(env), database.name)
  try {
    await eventually(() =>
      queue.ping().then(
        () => true,
        () => false
      )
    )
  } finally {
    await queue.close()
    await servers.close()
  }
}, 120_000)
