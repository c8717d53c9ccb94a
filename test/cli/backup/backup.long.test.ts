// `qjob admin backup` and `qjob admin restore`, with a service at work.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { tablesOf } from '../../../db/backup/sessions.js'
import type { Db } from '../../../db/client.js'
import { migrate } from '../../../db/migrate.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { storageMismatches } from '../../../db/proofs/storage-proof.js'
import { applyInside, createJournal } from '../../../db/schema/apply-migrations.js'
import { readMigrations } from '../../../db/schema/migration-files.js'
import { tablesLeftOut } from '../../../domain/operations/backup.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { openCredentials } from '../../../services/providers/credentials.js'
import { cookieOf, PASSWORD, startApi } from '../../support/api/api.js'
import { entriesOf } from '../../support/backups.js'
import { eventually } from '../../support/eventually.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { program } from '../qjob.js'
import { ring, ringText, startBackupScene } from './backup-scene.js'

const scene = await startBackupScene('cli-backup')
const { api, shell, team, file, made, backup, restore, empty, folderOf } = scene
const { db } = api.database
afterEach(scene.dropDatabases)
afterAll(scene.close)

/** A digest of every row of every table, without columns that a restore changes. */
async function contentOf(database: Db): Promise<Record<string, string>> {
  const changed = `array['generation', 'checked_at', 'missing_since', 'next_at', 'unreachable_since', 'held_reason', 'exported_at', 'seen_at', 'last_sent_at']`
  const tables = await database.execute<{ name: string }>(
    sql`select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`
  )
  const content: Record<string, string> = {}
  for (const { name } of tables) {
    if ([...tablesLeftOut, 'restores'].includes(name)) continue
    const [row] = await database.execute<{ digest: string }>(
      sql.raw(`select count(*) || ' ' || md5(coalesce(string_agg(r, '|' order by r), '')) as digest
        from (select (to_jsonb(t) - ${changed})::text as r from ${name} t) rows`)
    )
    content[name] = row!.digest
  }
  return content
}

describe('a restored backup', () => {
  test('has every row, in a database whose owner is no superuser, and the proofs of the service hold', async () => {
    expect(made).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Backed up 4 jobs \(\d+ rows in all\)/),
      stderr: expect.stringContaining('IT CONTAINS THE KEYS')
    })
    const target = await empty()
    const restored = await restore(target, file)
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Restored 4 jobs/) })
    const { db: there } = target.open()
    expect(await contentOf(there)).toEqual(await contentOf(db))
    expect(await ledgerMismatches(there)).toEqual([])
    expect(await storageMismatches(there)).toEqual([])
    for (const name of tablesLeftOut)
      expect([...(await there.execute(sql.raw(`select count(*)::int as rows from ${name}`)))]).toEqual([{ rows: 0 }])
    // Guards are back.
    await expect(there.execute(sql`update ledger set amount_micro = 0`)).rejects.toThrow()
    await expect(there.execute(sql`delete from audit_entries`)).rejects.toThrow()
    // A service starts on it, as on any database of its schema.
    await migrate(target.url)
    const before = await db.execute(
      sql`select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`
    )
    const after = await there.execute(
      sql`select conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`
    )
    expect([...after]).toEqual([...before])
  })

  test('proves its audit trails and seals as a whole, and opens its credentials with its own keys', async () => {
    const target = await empty()
    await restore(target, file)
    const keys = join(folderOf(target), 'keys', 'secrets')
    expect([readFileSync(keys, 'utf8'), statSync(keys).mode & 0o777]).toEqual([ringText, 0o600])
    const env = { DATABASE_URL: target.url, SECRETS_KEYS: '', DATA_DIR: folderOf(target) }
    const verified = await shell.run(['audit', 'verify', '--database', '--json'], '', env)
    expect(JSON.parse(verified.stdout)).toMatchObject({
      ok: true,
      keys_proven: true,
      suspect_keys: [],
      unreadable_lines: [],
      checkpoints_file: join(folderOf(target), 'audit-checkpoints.jsonl'),
      teams: [{ team_id: team.teamId, ok: true, seals: 3 }]
    })
    const { db: there } = target.open()
    expect(await openCredentials(there, readKeyRing(readFileSync(keys, 'utf8')), team.teamId, 'ionq')).toEqual({
      api_key: 'x'.repeat(32)
    })
  })

  test('answers every request of its users as before, after they have signed in again', async () => {
    const target = await empty()
    await restore(target, file)
    const name = target.url.split('/').at(-1)!
    const { db: there, sql: driver } = target.open()
    const again = await startApi('cli-restored', {
      keyRing: ring,
      database: { name, url: target.url, db: there, sql: driver, drop: async () => {} }
    })
    const account = { email: team.owner.email, password: PASSWORD }
    const cookie = cookieOf(await again.ask('POST', '/api/auth/sign-in', account))
    for (const path of [
      `/api/jobs/${team.completedJob}`,
      `/api/jobs/${team.completedJob}/artifacts`,
      `/api/scripts/${team.scriptId}`,
      `/api/capsules/${team.capsules.sealed}`,
      `/api/capsules/${team.capsules.published}`,
      `/api/team/secrets?team_id=${team.teamId}`,
      `/api/team/budget?team_id=${team.teamId}`,
      `/api/team/usage?team_id=${team.teamId}`
    ]) {
      const [one, other] = [await team.owner.ask('GET', path), await again.ask('GET', path, undefined, { cookie })]
      expect([path, other.status, other.text]).toEqual([path, 200, one.text])
    }
    await again.close()
  })
})

test('a backup is a tar that its owner alone can read, and that says what it holds', async () => {
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(shell.folder).filter((name) => name.includes('part'))).toEqual([])
  const read = (name: string) => execFileSync('tar', ['-xzOf', file, name], { encoding: 'utf8', maxBuffer: 1e8 })
  const manifest = JSON.parse(read('manifest.json'))
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({
    format: 'quantum-job-service backup',
    service_version: version,
    schema: readMigrations().at(-1)!.tag,
    postgres_version: expect.stringMatching(/^\d/),
    created_at: expect.stringMatching(/Z$/),
    includes_keys: true,
    key_ids: ['test'],
    tables: expect.arrayContaining([expect.objectContaining({ name: 'jobs', rows: 4 })])
  })
  expect(manifest.files).toContainEqual({
    name: 'keys/secrets',
    size_bytes: ringText.length,
    sha256: expect.any(String)
  })
  expect(read('keys/secrets')).toBe(ringText)
})

test('a backup is never written over a file', async () => {
  const before = readFileSync(file)
  expect(await backup('backup.tar.gz')).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') })
  expect(readFileSync(file).equals(before)).toBe(true)
})

test('a backup is sent through a pipe, and is a failure when the reader stops early or the disk is full', async () => {
  const piped = join(shell.folder, 'piped.tar.gz')
  const into = (target: string) =>
    spawnSync('sh', ['-c', '"$0" "$1" admin backup - > "$2"', process.execPath, program, target], {
      env: { PATH: process.env.PATH, ...shell.env },
      cwd: shell.folder,
      encoding: 'utf8'
    })
  expect(into(piped)).toMatchObject({ status: 0, stderr: expect.stringMatching(/^Backed up 4 jobs/) })
  expect((await entriesOf(piped)).at(-1)!.name).toBe('seal.json')
  expect(into('/dev/full')).toMatchObject({ status: 4, stderr: expect.stringContaining('cannot be written (ENOSPC)') })
  const run = shell.start(['admin', 'backup', '-'])
  run.closeOutput()
  expect(await run.ended).toMatchObject({ code: 4, stderr: expect.stringContaining('cannot be written (EPIPE)') })
})

test('a backup that is interrupted leaves no file', async () => {
  // Held open, so that the backup waits for it.
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table webhooks in access exclusive mode`)
    const run = shell.start(['admin', 'backup', join(shell.folder, 'interrupted.tar.gz')])
    await eventually(async () => readdirSync(shell.folder).some((name) => name.endsWith('.part')))
    run.signal('SIGTERM')
    expect(await run.ended).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('interrupted; nothing is left of it')
    })
  })
  expect(readdirSync(shell.folder).filter((name) => /interrupted|part/.test(name))).toEqual([])
})

test('every table of the schema is backed up or left out by name, and nothing else holds data', async () => {
  const { tag } = readMigrations().at(-1)!
  const found = await db.execute<{ name: string; kind: string }>(sql`
    select relname as name, relkind::text as kind from pg_class where relnamespace = 'public'::regnamespace and relkind not in ('i', 'v', 'c', 't')`)
  expect(found.filter(({ kind }) => kind !== 'r')).toEqual([])
  expect(tablesOf(readMigrations(), tag)).toEqual(found.map(({ name }) => name).sort())
  const [large] = await db.execute<{ count: number }>(sql`select count(*)::int as count from pg_largeobject_metadata`)
  expect(large!.count).toBe(0)
  expect(tablesLeftOut.every((name) => found.some((table) => table.name === name))).toBe(true)
})

test('a backup under load is one moment of the service: no job without its event and money', async () => {
  let over = false
  let jobs = 0
  const load = Promise.all(
    Array.from({ length: 3 }, async () => {
      const person = await addPerson(db)
      while (!over) {
        await addJob(db, person, { cost: 1_000n })
        jobs++
      }
    })
  )
  await eventually(async () => jobs > 20)
  const [from, ended] = [jobs, await backup('under-load.tar.gz', ['--json'])]
  const during = jobs - from
  over = true
  await load
  expect(ended.code).toBe(0)
  expect(during).toBeGreaterThan(0)
  const target = await empty()
  expect((await restore(target, join(shell.folder, 'under-load.tar.gz'))).code).toBe(0)
  const { db: there } = target.open()
  expect(await ledgerMismatches(there)).toEqual([])
  const [torn] = await there.execute<{ count: number }>(sql`select count(*)::int as count from jobs
    where not exists (select 1 from job_events where job_id = jobs.id)
      or (status = 'pending' and not exists (select 1 from outbox where job_id = jobs.id))`)
  expect(torn!.count).toBe(0)
}, 180_000)

describe('without keys', () => {
  test('a backup has none, is proven by the keys at hand, and needs them', async () => {
    const path = join(shell.folder, 'no-keys.tar.gz')
    expect(await backup('no-keys.tar.gz', ['--without-keys'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('It has no keys')
    })
    expect((await entriesOf(path)).map(({ name }) => name)).not.toContain('keys/secrets')
    const target = await empty()
    expect(await restore(target, path)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no keys: set SECRETS_KEYS')
    })
    const restored = await restore(target, path, ['--json'], { SECRETS_KEYS: ringText })
    expect(JSON.parse(restored.stdout)).toMatchObject({ proven: true, keys_file: null, includes_keys: false })
  })

  test('a backup is not made by accident', async () => {
    expect(await backup('keyless.tar.gz', [], { SECRETS_KEYS: '' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no keys: set SECRETS_KEYS')
    })
    expect(existsSync(join(shell.folder, 'keyless.tar.gz'))).toBe(false)
  })
})

test('a backup of the previous schema is restored with its own tables, and migrated', async () => {
  const source = await empty()
  const { sql: driver, close } = source.open()
  const [last, ...earlier] = readMigrations().reverse()
  await driver.begin(createJournal)
  for (const migration of earlier.reverse()) await driver.begin((tx) => applyInside(tx, migration))
  await driver`insert into users (id, email, username) values (gen_random_uuid(), 'old@example.org', 'old')`
  await close()
  const ended = await backup('previous.tar.gz', ['--json'], { DATABASE_URL: source.url })
  expect(JSON.parse(ended.stdout)).toMatchObject({ schema: earlier.at(-1)!.tag })
  const target = await empty()
  expect(await restore(target, join(shell.folder, 'previous.tar.gz'))).toMatchObject({ code: 0 })
  const { db: there, sql: raw } = target.open()
  expect([...(await raw`select email from users`)]).toEqual([{ email: 'old@example.org' }])
  const [applied] = await there.execute<{ hash: string }>(
    sql`select hash from drizzle.__drizzle_migrations order by created_at desc limit 1`
  )
  expect(applied!.hash).toBe(last!.hash)
  await migrate(target.url)
})

test('says how much it lacks, since that is in the content store alone', async () => {
  const [row] = await db.execute<{ size: number }>(sql`update artifacts
    set object_key = 'aa/' || sha256 || '/an-object', object_at = now(), content = null
    where ctid = (select ctid from artifacts limit 1) returning size_bytes as size`)
  const said = await backup('elsewhere.tar.gz')
  expect([said.code, said.stderr]).toEqual([
    0,
    expect.stringMatching(/^Not in the backup: 1 large content \(.+\) in the content store alone\./m)
  ])
  const listed = await backup('elsewhere.json.tar.gz', ['--json'])
  expect(JSON.parse(listed.stdout)).toMatchObject({ contents_elsewhere: { contents: 1, bytes: row!.size } })
})
