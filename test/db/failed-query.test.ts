// What an error of the database says: the query and the reason, never a value.
import { inspect } from 'node:util'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { brokenConstraint, connect, postgresCode } from '../../db/client.js'
import { eventually } from '../support/eventually.js'
import { createTestDatabase } from '../support/stack/database.js'

const database = await createTestDatabase('failed_query')
const { db } = database
afterAll(() => database.drop())

const CANARY = 'canary-4f1c9a7e'
const faultOf = async (run: Promise<unknown>): Promise<Error> =>
  run.then(
    () => {
      throw new Error('the query succeeded')
    },
    (error) => error
  )
/** Everything that a log, a debugger or Temporal could show of an error. */
const shown = (error: unknown): string =>
  inspect(error, { depth: 10, showHidden: true, maxStringLength: null, maxArrayLength: null })

test('a failed query shows its text and the code of the failure, and none of its parameters', async () => {
  const error = await faultOf(
    db.execute(sql`insert into access_codes (code, remaining_uses) values (${CANARY}, ${-1})`)
  )
  expect(error.message).toContain('insert into access_codes (code, remaining_uses) values ($1, $2)')
  expect([postgresCode(error), brokenConstraint(error)]).toEqual(['23514', 'access_codes_not_negative'])
  expect(shown(error)).not.toContain(CANARY)
})

test('a value that Postgres quotes in its message, or in the detail of a duplicate, is withheld', async () => {
  const add = () => db.execute(sql`insert into access_codes (code, remaining_uses) values (${CANARY}, 1)`)
  await add()
  for (const run of [
    db.execute(sql`select ${CANARY}::text::uuid`),
    db.transaction((tx) => tx.execute(sql`select ${CANARY}::text::int`)),
    add()
  ])
    expect(shown(await faultOf(run))).not.toContain(CANARY)
})

test('a query that is cut off by its time limit or a lost connection shows no parameter', async () => {
  const hasty = connect(database.url, { max: 1, statementTimeoutMs: 50 })
  const slow = await faultOf(hasty.db.execute(sql`select pg_sleep(5), ${CANARY}::text`))
  expect(postgresCode(slow)).toBe('57014')
  const cut = faultOf(db.execute(sql`select pg_sleep(30), ${CANARY}::text, 'cut off'`))
  await hasty.close()
  for (const error of [slow, await cutOff(cut)]) expect(shown(error)).not.toContain(CANARY)
})

/** Ends the connection once its query runs. */
async function cutOff(cut: Promise<Error>): Promise<Error> {
  const end = sql`select pg_terminate_backend(pid) from pg_stat_activity where query like '%''cut off''%' and state = 'active'
    and pid <> pg_backend_pid() and datname = current_database()`
  await eventually(async () => (await db.execute(end)).length > 0)
  return cut
}
