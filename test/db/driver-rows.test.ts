// A statement that fails after its first rows, and the responses that follow on its connection.
import { afterAll, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { connect } from '../../db/client.js'
import { backends } from '../../db/tables/backends.js'
import { startApi } from '../support/api/api.js'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('driver_rows', { max: 1 })
const { db, close } = connect(database.url, { max: 1, statementTimeoutMs: 200 })
afterAll(async () => {
  await close()
  await database.drop()
})

const failures: [string, () => Promise<unknown>][] = [
  ['fails', () => db.execute(sql`select 1 / (4 - n) from generate_series(1, 10) n`)],
  // The first rows leave the server before the time is over.
  ['times out', () => db.execute(sql`select repeat('x', 2000), pg_sleep(0.01) from generate_series(1, 100)`)],
  [
    'loses its connection',
    () =>
      db.execute(sql`select case when n = 900 then pg_terminate_backend(pg_backend_pid())::text
      else repeat('x', 1000) end from generate_series(1, 1000) n`)
  ]
]

test.each(failures)(
  'a row is found after a statement that %s half way on the same connection',
  async (_how, failing) => {
    const found = [
      () => db.execute(sql`select 1 as one`).then((rows) => [...rows]),
      () => db.select({ slug: backends.slug }).from(backends).where(eq(backends.slug, 'local')),
      () =>
        db
          .select({ slug: backends.slug })
          .from(backends)
          .where(eq(backends.slug, 'local'))
          .limit(1)
          .then(([row]) => row),
      () => db.execute(sql`select 1 as one where false`).then((rows) => [...rows])
    ]
    const expected = [[{ one: 1 }], [{ slug: 'local' }], { slug: 'local' }, []]
    for (const [at, find] of found.entries()) {
      await expect(failing()).rejects.toThrow()
      let rows: unknown
      // A connection that was lost during a statement fails its next one too.
      await eventually(async () => {
        rows = await find().catch((error: Error) => error)
        return !(rows instanceof Error)
      })
      expect(rows).toEqual(expected[at])
    }
  }
)

test('statements that are sent one behind another keep their own rows when an earlier one fails half way', async () => {
  const { db } = database
  const numbers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0
        ? db.execute(sql`select 1 / (4 - n) from generate_series(1, 10) n`)
        : db.execute<{ at: number }>(sql`select ${at}::int as at`)
    )
  )
  for (const [at, number] of numbers.entries())
    if (at % 2 === 0) expect(number.status).toBe('rejected')
    else expect(number).toMatchObject({ status: 'fulfilled', value: [{ at }] })
})

/** Ends as by its time limit after many rows. With a real limit, the requests beside it would have that too. */
const timesOut = sql`select case when n = 400 then pg_cancel_backend(pg_backend_pid())::text else repeat('x', 2000) end
  from generate_series(1, 800) n`

test('a statement that times out beside other requests turns no session into 401 and no job into 404', async () => {
  const api = await startApi('driver_rows_api', { poolMax: 1 })
  try {
    const user = await api.signUp()
    const id = await user.submit(submission({ execution_mode: 'temporal' }))
    const statuses: number[] = []
    for (let round = 0; round < 4; round++) {
      const [slow, ...answers] = await Promise.allSettled([
        api.deps.db.execute(timesOut),
        user.get('/api/auth/session'),
        user.get(`/api/jobs/${id}`),
        user.get(`/api/jobs/${id}/status`)
      ])
      expect(slow!.status).toBe('rejected')
      for (const answer of answers) if (answer.status === 'fulfilled') statuses.push(answer.value.status)
    }
    expect(statuses).toEqual(Array(12).fill(200))
  } finally {
    await api.close()
  }
})
