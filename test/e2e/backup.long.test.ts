// A service that is backed up while jobs are open, goes on, and is lost: the restored one, on another machine with an
// empty Temporal and Redis, brings every job to an end, and pays no provider twice.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { sql } from 'drizzle-orm'
import type { Connection as Database } from '../../db/client.js'
import { ledgerMismatches } from '../../db/proofs/money-proof.js'
import { finalStatuses } from '../../domain/jobs/job-status.js'
import { scheduleIdOf } from '../../domain/verification/schedule-names.js'
import { Shell, startService } from '../cli/qjob.js'
import { type EmptyDatabase, emptyDatabase } from '../support/backups.js'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { type ProviderPlatform, startProviderPlatform } from '../support/stack/provider-platform.js'

let platform: ProviderPlatform
let restored: EmptyDatabase
let service: Awaited<ReturnType<typeof startService>> | null = null
let database: Database
const shell = new Shell()

beforeAll(async () => {
  platform = await startProviderPlatform('backup', { own: { temporal: true, executor: { slots: 3 } } })
  restored = await emptyDatabase()
}, 120_000)

afterAll(async () => {
  shell.remove()
  await service?.close()
  await restored.close()
  await platform.close()
})

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

test('every open job of a backup reaches a final status, and its provider is paid once', async () => {
  platform.ionq.timing({ queueMs: 86_400_000, runMs: 1_000 })
  const slow = { framework: 'qiskit', inline_code: slowQiskit(90) }
  const done = await platform.submit(submission({ execution_mode: 'temporal' }))
  await platform.ended(done)
  const capsule = (await (
    await platform.call('POST', '/api/capsules/from-job', { job_id: done, seal: true })
  ).json()) as { capsule_id: string }
  await platform.call('PUT', `/api/capsules/${capsule.capsule_id}/schedule`, { cron: '0 3 1 1 *', timezone: 'UTC' })
  const atProvider = await platform.submitPaid()
  await platform.accepted(atProvider)
  const direct = await platform.submit(submission({ execution_mode: 'direct', ...slow }))
  const durable = await platform.submit(submission({ execution_mode: 'temporal', ...slow }))
  await Promise.all([direct, durable].map((id) => platform.accepted(id)))
  const later = { not_before: inSeconds(75) }
  const waiting = await platform.submit(submission({ execution_mode: 'direct', ...later }))
  const durableWaiting = await platform.submit(submission({ execution_mode: 'temporal', ...later }))
  const sentAfterwards = await platform.submitPaid(later)
  const sentToo = await platform.submitPaid(later)

  const file = join(shell.folder, 'backup.tar.gz')
  const { DATABASE_URL, SECRETS_KEYS, IONQ_API_URL } = platform.settings as Record<string, string>
  const backedUp = await shell.run(['admin', 'backup', file], '', {
    DATABASE_URL: DATABASE_URL!,
    SECRETS_KEYS: SECRETS_KEYS!
  })
  expect(backedUp).toMatchObject({ code: 0 })
  for (const id of [direct, durable]) expect((await platform.job(id)).status).toBe('running')
  for (const id of [waiting, durableWaiting, sentAfterwards]) expect((await platform.job(id)).status).toBe('pending')
  // The lost life of the service: both jobs are sent and will be paid for.
  await eventually(async () => platform.ionq.tasks().length === 3, { timeoutMs: 180_000 })
  for (const part of ['worker', 'api', 'temporal', 'executor'] as const) await platform.kill(part)

  const empty = { DATABASE_URL: restored.url, SECRETS_KEYS: '', DATA_DIR: join(shell.folder, 'restored') }
  expect(await shell.run(['admin', 'restore', file], '', empty)).toMatchObject({ code: 0 })
  service = await startService('backup-restored', {
    DATABASE_URL: restored.url,
    SECRETS_KEYS: SECRETS_KEYS!,
    IONQ_API_URL: IONQ_API_URL!,
    EMULATED_HARDWARE: '1',
    PROVIDER_LOOKUP_WINDOW: '3',
    PROVIDER_RETRY_SECONDS: '0.5',
    SCHEDULE_COMPARE_SECONDS: '2'
  })
  database = restored.open()
  const { db } = database
  await eventually(
    async () => {
      const [row] = await db.execute<{ count: number }>(
        sql`select count(*)::int as count from provider_tasks where state = 'accepted' and provider_job_id is not null`
      )
      return row!.count === 3
    },
    { timeoutMs: 120_000 }
  )
  platform.ionq.advance(2 * 86_400_000)
  const jobs = await eventually(
    async () => {
      const rows = await db.execute<{ id: string; status: (typeof finalStatuses)[number]; code: string | null }>(
        sql`select id, status, error_code as code from jobs`
      )
      return rows.every(({ status }) => finalStatuses.includes(status)) ? rows : null
    },
    { timeoutMs: 300_000, message: async () => JSON.stringify(await db.execute(sql`select id, status from jobs`)) }
  )
  expect(Object.fromEntries(jobs.map(({ id, status, code }) => [id, code ?? status]))).toEqual({
    [done]: 'completed',
    [atProvider]: 'completed',
    [direct]: 'worker_lost',
    [durable]: 'completed',
    [waiting]: 'completed',
    [durableWaiting]: 'completed',
    [sentAfterwards]: 'completed',
    [sentToo]: 'completed'
  })
  expect(platform.ionq.tasks()).toHaveLength(3)
  expect(await ledgerMismatches(db)).toEqual([])
  const [money] = await db.execute<{ reserved: string }>(
    sql`select sum(reserved_micro)::text as reserved from budget_counters`
  )
  expect(money!.reserved).toBe('0')

  const connection = await Connection.connect({ address: process.env.TEST_TEMPORAL_ADDRESS! })
  const schedules = new Client({ connection }).schedule
  await eventually(() =>
    schedules
      .getHandle(scheduleIdOf(capsule.capsule_id))
      .describe()
      .then(
        ({ state }) => !state.paused,
        () => false
      )
  )
  await connection.close()
}, 900_000)
