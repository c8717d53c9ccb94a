// Every query is prepared once per connection: one round trip, and no new plan each time.
import { afterAll, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { anyOf, connect } from '../../db/client.js'
import { backends } from '../../db/tables/backends.js'
import { jobs } from '../../db/tables/jobs.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('prepared_statements')
const { db, close } = connect(database.url, { max: 1 })
afterAll(async () => {
  await close()
  await database.drop()
})

const id = '01900000-0000-7000-8000-000000000000'

test('every query is prepared once, inside and outside of transactions, whatever the length of its lists', async () => {
  for (let round = 1; round <= 3; round++) {
    const ids = Array.from({ length: round }, () => id)
    await db
      .select({ slug: backends.slug })
      .from(backends)
      .where(eq(backends.slug, `number ${round}`))
    await db.select({ status: jobs.status }).from(jobs).where(anyOf(jobs.id, ids))
    await db.execute(sql`select ${round}::int as round`)
    await db
      .update(jobs)
      .set({ name: `number ${round}` })
      .where(eq(jobs.id, id))
      .returning({ id: jobs.id })
    await db.transaction(async (tx) => {
      await tx.execute(sql`select ${round}::int as inside`)
      await tx.transaction((savepoint) => savepoint.execute(sql`select ${round}::int as deeper`))
    })
  }
  const statements = await db.execute<{ statement: string; calls: number }>(
    sql`select statement, (generic_plans + custom_plans)::int as calls from pg_prepared_statements`
  )
  const calls = (words: string) =>
    statements.filter(({ statement }) => statement.includes(words)).map((statement) => statement.calls)
  for (const words of ['from "backends"', 'string_to_array', 'as round', 'update "jobs"', 'as inside', 'as deeper'])
    expect([words, calls(words)]).toEqual([words, [3]])
})
