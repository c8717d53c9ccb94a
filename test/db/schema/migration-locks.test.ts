// A migration never blocks the service for longer than a moment, and leaves nothing half done.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import postgres from 'postgres'
import { migrate } from '../../../db/migrate.js'
import { applyInside } from '../../../db/schema/apply-migrations.js'
import type { Migration } from '../../../db/schema/migration-files.js'
import { MIGRATION_LOCK } from '../../../db/schema/migration-lock.js'
import { eventually } from '../../support/eventually.js'
import { createTestDatabase, type TestDatabase } from '../../support/stack/database.js'
import { laterMigration, own } from './made-up.js'

const databases: TestDatabase[] = []
let database: TestDatabase
beforeEach(async () => {
  database = await createTestDatabase('migration_locks', { max: 2 })
  databases.push(database)
})
afterAll(() => Promise.all(databases.map((one) => one.drop())))

const quick = { lockTimeoutMs: 100, pauseMs: 20, lockWaitMs: 200 }
const told: string[] = []
beforeEach(() => void told.splice(0))
const migrateWith = (later: Migration[], times = {}) =>
  migrate(database.url, {
    migrations: [...own, ...later],
    times: { ...quick, ...times },
    log: (text) => told.push(text)
  })

const exists = async (name: string): Promise<boolean> => {
  const [row] = await database.sql`select to_regclass(${name}) is not null as found`
  return row!.found
}

/** A session of another program. */
async function withSession<T>(work: (session: postgres.Sql, pid: number) => Promise<T>): Promise<T> {
  const session = postgres(database.url, { max: 1, onnotice: () => {}, connection: { application_name: 'a report' } })
  try {
    const [row] = await session`select pg_backend_pid() as pid`
    return await work(session, row!.pid)
  } finally {
    await session.end({ timeout: 1 })
  }
}

const migrators = () =>
  database.sql<{ pid: number }[]>`select pid from pg_stat_activity where datname = current_database()
    and application_name = 'quantum-job-service migration' and (wait_event = 'PgSleep' or wait_event_type = 'Lock')`

test('other queries pass a migration that waits for a reader, and it is applied when the reader has finished', async () => {
  const altering = laterMigration(['alter table teams add column place text'])
  await withSession(async (session, pid) => {
    await session`begin`
    await session`select count(*) from teams`
    const migrated = migrateWith([altering])
    await eventually(() => told.length >= 2)
    for (let passes = 0; passes < 3; passes++) expect(await database.sql`select 1 as one from teams`).toEqual([])
    expect(told).toEqual(
      told.map(() => expect.stringContaining(`; the oldest open transaction is of database process ${pid} (a report)`))
    )
    await session`commit`
    expect((await migrated).schema.to).toBe(own.length + 1)
  })
  expect(await database.sql`select place from teams`).toEqual([])
})

test('a migration that never gets its locks stops with the reason, and leaves nothing', async () => {
  const altering = laterMigration(['create table places (id uuid)', 'alter table teams add column place text'])
  await withSession(async (session, pid) => {
    await session`begin`
    await session`select count(*) from teams`
    await expect(migrateWith([altering], { retryMs: 300 })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(`^${altering.tag} did not get its locks within .* database process ${pid} `)
    })
    await session`rollback`
  })
  expect(await exists('places')).toBe(false)
})

test('a migration that fails is named, and leaves nothing', async () => {
  const good = laterMigration(['create table places (id uuid)'])
  const bad = laterMigration(['create table roads (id uuid)', 'alter table nowhere add column place text'])
  await expect(migrateWith([good, bad])).rejects.toMatchObject({
    code: 'conflict',
    message: `migration ${bad.tag} failed, and is not applied: relation "nowhere" does not exist (42P01)`
  })
  expect([await exists('places'), await exists('roads')]).toEqual([true, false])
})

test('a migrator that is killed leaves whole migrations, and the next one does the rest', async () => {
  const first = laterMigration(['create table places (id uuid)'])
  const second = laterMigration(['create table roads (id uuid)', 'select pg_sleep(60)'])
  const migrated = migrateWith([first, second]).then(
    () => 'done',
    () => 'killed'
  )
  const [{ pid }] = await eventually(async () => {
    const found = await migrators()
    return found.length === 1 && (found as unknown as [{ pid: number }])
  })
  await database.sql`select pg_terminate_backend(${pid})`
  expect(await migrated).toBe('killed')
  expect([await exists('places'), await exists('roads')]).toEqual([true, false])
  expect((await migrateWith([first, { ...second, statements: second.statements.slice(0, 1) }])).schema).toEqual({
    from: own.length + 1,
    to: own.length + 2
  })
  expect(await exists('roads')).toBe(true)
})

test('a lock that another process has is waited for with an end, which names the process', async () => {
  await withSession(async (session, pid) => {
    await session`select pg_advisory_lock(${MIGRATION_LOCK})`
    await expect(migrateWith([laterMigration(['select 1'])])).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`by database process ${pid} (a report) from 127.0.0.1 since `)
    })
    // A start that has nothing to do is not kept waiting by a backup.
    expect((await migrate(database.url, { times: quick })).schema).toEqual({ from: own.length, to: own.length })
  })
})

test("a time limit of the role's statements does not stop a migration", async () => {
  await database.sql.unsafe(`alter database ${database.name} set statement_timeout = 1000`)
  const slow = ['select pg_sleep(1.5)']
  await migrateWith([laterMigration(slow), laterMigration(slow, { concurrently: true })])
})

const concurrentIndex = laterMigration(
  ['drop index concurrently if exists teams_place_idx', 'create index concurrently teams_place_idx on teams (name)'],
  { concurrently: true }
)
const isValid = async (): Promise<boolean | undefined> => {
  const [row] =
    await database.sql`select indisvalid as valid from pg_index where indexrelid = to_regclass('teams_place_idx')`
  return row?.valid
}
const addTeam = (sql: postgres.Sql) => sql`insert into teams (id, name) values (gen_random_uuid(), 'a team')`

test('an index that is built concurrently lets others write, and a build that was killed is repeated', async () => {
  await withSession(async (session) => {
    await session`begin`
    await addTeam(session)
    const build = () =>
      migrateWith([concurrentIndex]).then(
        () => 'done',
        () => 'killed'
      )
    const first = build()
    const waiting = () =>
      eventually(async () => {
        const found = await migrators()
        return found.length === 1 ? found[0]!.pid : null
      })
    const pid = await waiting()
    await addTeam(database.sql)
    await database.sql`select pg_terminate_backend(${pid})`
    expect([await first, await isValid()]).toEqual(['killed', false])
    const second = build()
    await waiting()
    await addTeam(database.sql)
    await session`commit`
    expect([await second, await isValid()]).toEqual(['done', true])
  })
})

test('a restore builds such an index in its own transaction', async () => {
  await database.sql.begin((tx) => applyInside(tx, concurrentIndex))
  expect(await isValid()).toBe(true)
})
