import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { readWorkerConfig } from '../../../apps/worker/config.js'
import { startWorker } from '../../../apps/worker/worker.js'
import { closeWithin } from '../../../services/shutdown/close-within.js'
import { deadAddress, startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { quietTemporal } from '../../support/stack/quiet-temporal.js'

const database = await createTestDatabase('admin_system')
const { db } = database
const api = await startApi('admin_system', { database })
afterAll(async () => {
  await api.close()
  await database.drop()
})

let admin: TestUser
beforeAll(async () => {
  quietTemporal()
  admin = await api.signUp({ admin: true })
})

const system = async (user: TestUser = admin) => {
  const started = performance.now()
  const answer = await user.get('/api/admin/system')
  expect(answer.status).toBe(200)
  return { ...answer.body, ms: performance.now() - started }
}
/** The same administrator at another API of the same database. */
const through = (other: Awaited<ReturnType<typeof startApi>>): TestUser => ({
  ...admin,
  get: (path) => other.ask('GET', path, undefined, { cookie: admin.cookie })
})
/** More than a busy machine adds to the two seconds after which a part counts as failing. */
const LONG_MS = 15_000
const ok = { state: 'ok', latency_ms: expect.any(Number) }

describe('the state of the platform', () => {
  test('without a worker, shows every part, and empty queues without consumers', async () => {
    // A part that is slow for two seconds is shown as failing.
    const {
      ms: _,
      at,
      version,
      executor,
      ...rest
    } = await eventually(async () => {
      const now = await system()
      const probes = [now.parts, now.queues, now.workers].flatMap((parts) => Object.values<{ state: string }>(parts))
      return [...probes, now.executor, now.jobs, now.providers, now.sweeps].every(({ state }) => state === 'ok') && now
    })
    expect(new Date(at).toISOString()).toBe(at)
    expect(version).toMatch(/^\d+\.\d+\.\d+/)
    expect(rest).toEqual({
      parts: { database: ok, redis: ok, temporal: ok, executor: ok },
      queues: {
        direct: { state: 'ok', waiting: 0, active: 0, delayed: 0 },
        temporal: { state: 'ok', workflow_tasks: 0, activity_tasks: 0 }
      },
      workers: { direct: { state: 'ok', count: 0 }, temporal: { state: 'ok', pollers: [] } },
      jobs: { state: 'ok', pending: 0, running: 0, cancelling: 0 },
      outbox: { state: 'ok', rows: 0, held: 0, due: 0, unreachable: 0, oldest_seconds: null },
      providers: expect.objectContaining({
        state: 'ok',
        IonQ: { worker_seen_at: null, asked_at: null, backends: 2, online: 0 }
      }),
      sweeps: { state: 'ok' }
    })
    expect(executor).toMatchObject({
      state: 'ok',
      sandbox: { level: expect.any(String) },
      slots: { total: expect.any(Number), running: expect.any(Number) },
      engines: expect.arrayContaining([expect.objectContaining({ name: expect.any(String) })])
    })
  })

  test('counts waiting jobs by queue, and counts a job with a later start as waiting but not due', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    await admin.submit(submission({ execution_mode: 'direct' }))
    await admin.submit(submission({ execution_mode: 'direct' }))
    await admin.submit(submission({ execution_mode: 'direct', not_before: soon }))
    await db.execute(sql`update outbox set due_at = due_at - interval '90 seconds' where due_at < now()`)
    const now = await eventually(async () => {
      const now = await system()
      return now.queues.direct.waiting === 2 && now.outbox.state === 'ok' && now
    })
    expect(now.jobs).toEqual({ state: 'ok', pending: 3, running: 0, cancelling: 0 })
    expect(now.outbox).toEqual({
      state: 'ok',
      rows: 3,
      held: 0,
      due: 2,
      unreachable: 0,
      oldest_seconds: expect.any(Number)
    })
    expect(now.outbox.oldest_seconds).toBeGreaterThanOrEqual(90)
    expect(now.outbox.oldest_seconds).toBeLessThan(200)
  })

  test('a worker is listed at both queues, and takes the waiting jobs', async () => {
    const config = readWorkerConfig({
      DATABASE_URL: database.url,
      REDIS_URL: process.env.TEST_REDIS_URL!,
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS!,
      TEMPORAL_TASK_QUEUE: database.name,
      QUEUE_PREFIX: database.name,
      EXECUTOR_URL: process.env.TEST_EXECUTOR_URL!,
      EXECUTOR_TOKEN: process.env.TEST_EXECUTOR_TOKEN!,
      WORKFLOW_BUNDLE: process.env.TEST_WORKFLOW_BUNDLE!
    })
    const log = pino({ level: 'silent' })
    const worker = startWorker(config, log)
    try {
      const now = await eventually(
        async () => {
          const now = await system()
          expect(now.workers).toEqual({
            direct: { state: 'ok', count: 1 },
            temporal: {
              state: 'ok',
              pollers: [{ identity: expect.stringContaining(String(process.pid)), last_seen_at: expect.any(String) }]
            }
          })
          // Jobs and outbox are two statements: a job can end between them.
          return now.jobs.pending === 1 && now.jobs.running === 0 && now.outbox.rows === 1 && now
        },
        { timeoutMs: 40_000, message: async () => JSON.stringify(await system()) }
      )
      expect(Math.abs(Date.parse(now.workers.temporal.pollers[0].last_seen_at) - Date.now())).toBeLessThan(60_000)
      expect(now.outbox).toEqual({ state: 'ok', rows: 1, held: 0, due: 0, unreachable: 0, oldest_seconds: null })
      const first = ['outbox', 'leases', 'stalled_workflows', 'held_starts', 'retention', 'money', 'money_in_full']
      const shown = await eventually(
        async () => {
          const { state, ...sweeps } = (await system()).sweeps
          expect([state, ...first.filter((name) => !(name in sweeps))]).toEqual(['ok'])
          for (const [name, sweep] of Object.entries(sweeps))
            expect([name, sweep]).toEqual([name, expect.objectContaining({ late: false, error: null })])
          return sweeps
        },
        { message: async () => JSON.stringify(await system()) }
      )
      for (const [name, sweep] of Object.entries(shown))
        expect([name, sweep]).toEqual([name, expect.objectContaining({ findings: [] })])
    } finally {
      expect(await closeWithin(60_000, log, worker.close)).toBe(0)
    }
  }, 90_000)
})

describe('a part that is unavailable is shown as failing without preventing the response:', () => {
  test('Redis, Temporal and the executor', async () => {
    const [redis, temporal, executor] = [await deadAddress(), await deadAddress(), await deadAddress()]
    const lonely = await startApi('admin_system_lonely', {
      database,
      redisUrl: `redis://:a-password@${redis}`,
      temporalAddress: temporal,
      executorUrl: `http://${executor}`
    })
    try {
      const now = await system(through(lonely))
      expect(now.ms).toBeLessThan(LONG_MS)
      const away = { state: 'failing', message: expect.stringMatching(/./) }
      expect(now.parts).toEqual({
        database: ok,
        redis: { ...away, latency_ms: expect.any(Number) },
        temporal: { ...away, latency_ms: expect.any(Number) },
        executor: { ...away, latency_ms: expect.any(Number) }
      })
      expect([now.queues, now.workers]).toEqual([
        { direct: away, temporal: away },
        { direct: away, temporal: away }
      ])
      expect([now.executor, now.jobs.state]).toEqual([away, 'ok'])
      expect(JSON.stringify(now)).not.toContain('a-password')
    } finally {
      await lonely.close()
    }
  }, 30_000)

  test('a hanging part delays the response by two seconds; a missing executor is named', async () => {
    const hanging = await startApi('admin_system_hanging', {
      database,
      executorUrl: null,
      probes: { redis: () => new Promise(() => {}) }
    })
    try {
      const now = await system(through(hanging))
      expect(now.parts.redis).toEqual({
        state: 'failing',
        latency_ms: expect.any(Number),
        message: 'did not respond within 2 s'
      })
      expect([now.ms > 1_900, now.ms < LONG_MS]).toEqual([true, true])
      expect(now.executor).toEqual({ state: 'failing', message: 'EXECUTOR_URL is not set' })
      expect(now.queues.direct.state).toBe('ok')
    } finally {
      await hanging.close()
    }
  }, 30_000)

  test('a table that the database cannot count is reported without the text of the query', async () => {
    await db.execute(sql`alter table outbox rename to outbox_elsewhere`)
    try {
      const now = await system()
      expect([now.parts.database.state, now.jobs, now.outbox]).toEqual([
        'ok',
        { state: 'failing', message: 'relation "outbox" does not exist' },
        { state: 'failing', message: 'relation "outbox" does not exist' }
      ])
    } finally {
      await db.execute(sql`alter table outbox_elsewhere rename to outbox`)
    }
  })
})
