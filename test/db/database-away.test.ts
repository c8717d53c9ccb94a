// Which errors mean that the database is away: those of its connections, never those of a statement or of another server.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../db/client.js'
import { isDatabaseAway } from '../../db/database-away.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('database_away', { max: 1 })
afterAll(() => database.drop())

const raised = (state: string) => `do $$ begin raise exception 'as if' using errcode = '${state}'; end $$`

test.each([
  ['57P01', true],
  ['57P02', true],
  ['57P03', true],
  ['53300', true],
  ['25006', true],
  ['08006', true],
  ['53200', false],
  ['53400', false],
  ['57014', false],
  ['40001', false],
  ['23505', false],
  ['42P01', false],
  ['22003', false]
])('an error with the state %s: %p', async (state, expected) => {
  // A read-only server is left, with the connections to it.
  const { db, close } = connect(database.url, { max: 1 })
  const failed = await db.execute(sql.raw(raised(state))).catch((error: unknown) => error)
  await close()
  expect(isDatabaseAway(failed)).toBe(expected)
})

test('a host that refuses, in a statement and in a transaction, and a wrong password', async () => {
  const errorAt = async (url: string) => {
    const { db, close } = connect(url, { max: 1 })
    const errors = [
      await db.execute(sql`select 1`).catch((error: unknown) => error),
      await db.transaction(async () => {}).catch((error: unknown) => error)
    ]
    await close()
    return errors.map(isDatabaseAway)
  }
  expect(await errorAt('postgres://a:b@127.0.0.1:1/c')).toEqual([true, true])
  const url = new URL(database.url)
  url.pathname = '/no_such_database'
  expect(await errorAt(url.href)).toEqual([true, true])
})

test('an error of another server, and a fault of the program, are none', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  expect(isDatabaseAway(refused)).toBe(false)
  expect(isDatabaseAway(new Error('fetch failed', { cause: refused }))).toBe(false)
  expect(isDatabaseAway(new TypeError('x is undefined'))).toBe(false)
  expect(isDatabaseAway(undefined)).toBe(false)
})
