// All connections that a worker has for jobs wait for a lock: its sweeps, which deliver jobs and end those of dead workers,
// continue.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { startPlatform } from '../../support/stack/platform.js'

/** Two for jobs, and one for sweeps. */
const CONNECTIONS = 3
const PASSES = 3

const platform = await startPlatform('busy-pool', {}, { DATABASE_POOL_MAX: String(CONNECTIONS) })
afterAll(() => platform.close())

test('jobs are delivered while every connection for jobs waits for a lock', async () => {
  const { db } = platform.connection
  const temporal = submission({ execution_mode: 'temporal' })
  const ids: string[] = []
  const delivered: boolean[] = []
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table attempts in access exclusive mode`)
    for (let at = 0; at < 2 * CONNECTIONS; at++) ids.push(await platform.submit(temporal))
    const waiting = async () =>
      (await tx.execute(sql`select from pg_locks where relation = 'attempts'::regclass and not granted`)).length
    for (let pass = 0; pass < PASSES; pass++) {
      await eventually(async () => (await waiting()) >= CONNECTIONS - 1)
      await db.execute(sql`update outbox set next_at = now()`)
      await eventually(async () => (await db.execute(sql`select from outbox where next_at <= now()`)).length === 0)
      delivered.push((await waiting()) > 0)
    }
  })
  expect(delivered).toContain(true)
  for (const id of ids) expect(await platform.ended(id)).toMatchObject({ status: 'completed', error: null })
}, 120_000)
