import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../../db/client.js'
import { eventually } from '../../support/eventually.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('statement_order', { max: 1 })
const pool = connect(database.url, { max: 2 })
afterAll(async () => {
  await pool.close()
  await database.drop()
})

test('a statement that waits for a lock delays no other statement while its pool has another connection', async () => {
  const { db } = pool
  await Promise.all([db.execute(sql`select pg_sleep(0.1)`), db.execute(sql`select pg_sleep(0.1)`)])
  const ended: string[] = []
  let waiting: Promise<unknown> | undefined
  await database.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(1)`)
    waiting = db.execute(sql`select pg_advisory_xact_lock(1)`).then(() => ended.push('the one that waits'))
    const others = Array.from({ length: 20 }, async (_, at) => {
      await db.execute(sql`select pg_sleep(0.01)`)
      ended.push(`another ${at}`)
    })
    await eventually(async () => (await tx.execute(sql`select from pg_locks where not granted`)).length > 0)
    await Promise.race([Promise.all(others), eventually(async () => ended.length === 20)])
  })
  await waiting
  expect(ended).toHaveLength(21)
  expect(ended.at(-1)).toBe('the one that waits')
})
