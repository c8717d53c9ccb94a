import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { listBackends } from '../../db/backends/backends.js'
import { migrate } from '../../db/migrate.js'
import { storageMismatches } from '../../db/proofs/storage-proof.js'
import { readMigrations } from '../../db/schema/migration-files.js'
import { MIGRATION_LOCK } from '../../db/schema/migration-lock.js'
import { eventually } from '../support/eventually.js'
import { createTestDatabase, type TestDatabase } from '../support/stack/database.js'

const migrations = new URL('../../db/migrations/', import.meta.url)
const journal: { entries: { idx: number; when: number; tag: string }[] } = JSON.parse(
  readFileSync(new URL('meta/_journal.json', migrations), 'utf8')
)

describe('migrations', () => {
  const databases: TestDatabase[] = []
  const emptyDatabase = async () => {
    const database = await createTestDatabase('migrate', { template: null, max: 2 })
    databases.push(database)
    return database
  }
  afterAll(() => Promise.all(databases.map((database) => database.drop())))

  test('run once when three processes start at once on an empty database', async () => {
    const { db, url } = await emptyDatabase()
    await Promise.all([migrate(url), migrate(url), migrate(url)])
    const applied = await db.execute(
      sql`select created_at::text as "when" from drizzle.__drizzle_migrations order by id`
    )
    expect(applied.map((row) => Number(row.when))).toEqual(journal.entries.map((entry) => entry.when))
    expect((await listBackends(db)).length).toBeGreaterThan(20)
  })

  test("change nothing at a second start, and keep an operator's prices", async () => {
    const { db, url } = await emptyDatabase()
    await migrate(url)
    await db.execute(sql`update backends set per_shot_micro = 42, status = 'maintenance' where slug = 'local'`)
    const before = await listBackends(db)
    await migrate(url)
    expect(await listBackends(db)).toEqual(before)
  })

  test('are not blocked by a process that died while it held the lock', async () => {
    const { db, sql: connection, url } = await emptyDatabase()
    const dying = postgres(url, { max: 1, onnotice: () => {} })
    const [session] = await dying`select pg_backend_pid() as pid, pg_advisory_lock(${MIGRATION_LOCK})`
    const told: string[] = []
    const migrated = migrate(url, { log: (message) => told.push(message) })
    await eventually(() => told.length > 0)
    expect(told).toEqual([expect.stringContaining(`held by database process ${session!.pid} (postgres.js)`)])
    await connection`select pg_terminate_backend(${session!.pid})`
    await migrated
    expect((await listBackends(db)).length).toBeGreaterThan(20)
    await dying.end({ timeout: 1 })
  })

  test('meter what was stored before it was metered, once', async () => {
    const { db, sql: connection } = await emptyDatabase()
    const all = readMigrations()
    const metering = all.findIndex(({ tag }) => tag.endsWith('_choice_storage'))
    const apply = (migrations: typeof all) =>
      connection.begin(async (tx) => {
        for (const { statements } of migrations) for (const statement of statements) await tx.unsafe(statement)
      })
    await apply(all.slice(0, metering))
    const [team, job] = ['019abcde-0000-7000-8000-000000000001', '019abcde-0000-7000-8000-000000000002']
    await connection`insert into teams (id, name) values (${team!}, 'a team')`
    const add = (id: string, choice: object | null) => connection`
      insert into jobs (id, team_id, labels, status, execution_mode, durable, backend, provider, framework, source_kind,
        source_text, source_sha256, params, shots, timeout_seconds, estimated_cost_micro, choice)
      values (${id}, ${team!}, '[]', 'pending', 'direct', false, 'local', 'local', 'openqasm', 'inline',
        'text', 'digest', '{}', 1, 60, 0, ${choice === null ? null : JSON.stringify(choice)}::text::jsonb)`
    await add(job!, { candidates: [{ backend: 'local', usable: true, reason: 'free'.repeat(100) }] })
    await add(job!.replace(/2$/, '3'), null)
    expect(await storageMismatches(db)).toEqual([])
    await apply(all.slice(metering, metering + 1))
    expect(await storageMismatches(db)).toEqual([])
    const [counted] = await connection`select sum(bytes)::int as bytes from storage_entries`
    expect(counted!.bytes).toBeGreaterThan(400 + 2 * 'text{}'.length)
  })

  test('have a journal without gaps, with rising times, that lists exactly the existing files', () => {
    // The migrator skips every entry that is older than the newest applied one.
    const times = journal.entries.map((entry) => entry.when)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
    expect(journal.entries.map((entry) => entry.idx)).toEqual(journal.entries.map((_, index) => index))
    const files = readdirSync(migrations).filter((name) => name.endsWith('.sql'))
    expect(journal.entries.map((entry) => `${entry.tag}.sql`)).toEqual(files.sort())
    journal.entries.forEach((entry, index) => {
      expect(entry.tag.startsWith(String(index).padStart(4, '0'))).toBe(true)
    })
  })
})
