// The last release runs on while the database is upgraded, and after going back to it: its queries work with this schema.
import { afterAll, expect, test } from '@jest/globals'
import { readMigrations, readSeedVersions } from '../../../db/schema/migration-files.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { failuresOf, insertsOf, readReleasedQueries } from './released-queries.js'

const database = await createTestDatabase('released_queries', { max: 1 })
afterAll(() => database.drop())
const released = readReleasedQueries()

test('every recorded query of the last release works with the schema of this version', async () => {
  expect(released.queries.length).toBeGreaterThan(200)
  expect(released.migrations).toBeLessThanOrEqual(readMigrations().length)
  expect(await failuresOf(database.sql, released.queries)).toEqual([])
})

test('no contracting migration requires more than the last release knows', () => {
  const minima = readMigrations().map(({ minimum }) => minimum ?? 0)
  expect(minima.filter((minimum) => minimum > released.migrations)).toEqual([])
})

test('the seeds of this version come after those of the last release', () => {
  expect(readSeedVersions().slice(0, released.seeds.length)).toEqual(released.seeds)
})

test.each([
  ['a column is gone', 'alter table jobs drop column shots', 'column "shots" of relation "jobs" does not exist'],
  ['a column needs a value', 'alter table jobs add column place text not null', 'jobs.place needs a value'],
  ['a default is gone', 'alter table outbox alter column deliveries drop default', 'outbox.deliveries needs a value'],
  ['a type is another', 'alter table jobs alter column name type bigint using null', 'lower(bigint) does not exist'],
  ['the index of an ON CONFLICT is gone', 'drop index backends_slug_key', 'no unique or exclusion constraint']
])('it is noticed when %s', async (_what, change, message) => {
  const changed = await createTestDatabase('released_queries_changed', { max: 1 })
  try {
    await changed.sql.unsafe(change)
    expect((await failuresOf(changed.sql, released.queries)).join('\n')).toContain(message)
  } finally {
    await changed.drop()
  }
})

test('the columns of an insert are read from its text', () => {
  const text = `with a as (insert into "jobs" ("id", "shots", "name") values ($1, default, lower($2)) returning id)
    insert into public.outbox (job_id, kind) select id, 'start' from a`
  expect(insertsOf(text)).toEqual([
    { table: 'jobs', columns: new Set(['id', 'name']) },
    { table: 'outbox', columns: new Set(['job_id', 'kind']) }
  ])
})
