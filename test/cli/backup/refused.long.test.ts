// Backups that `qjob admin restore` refuses, and places where it restores none.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { type EmptyDatabase, type Entry, entriesOf, withDigests, writeEntries } from '../../support/backups.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { ringText, startBackupScene } from './backup-scene.js'

const scene = await startBackupScene('cli-backup-refused')
const { shell, file, restore, empty, folderOf } = scene
afterEach(scene.dropDatabases)
afterAll(scene.close)

describe('a backup is refused, and the database stays empty,', () => {
  const isEmpty = async (target: EmptyDatabase) => {
    const { sql: driver } = target.open()
    const found = await driver`select relname from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname !~ '^pg_' and nspname <> 'information_schema'`
    expect([...found]).toEqual([])
    expect(existsSync(join(folderOf(target), 'keys', 'secrets'))).toBe(false)
  }
  const changed = async (name: string, change: (entries: Entry[]) => Entry[]): Promise<string> => {
    const path = join(shell.folder, name)
    await writeEntries(path, change(await entriesOf(file)))
    return path
  }
  const jobsTwice = (entries: Entry[]) =>
    entries.map((entry) =>
      entry.name.startsWith('database/capsule_budgets/') || entry.name.startsWith('database/budget_counters/')
        ? { ...entry, content: Buffer.concat([entry.content, entry.content]) }
        : entry
    )
  const other = { SECRETS_KEYS: `other:${Buffer.alloc(32, 'other').toString('base64')}` }

  test.each([0, 1, 20_000, -1, -9])('when %d bytes of it are left', async (bytes) => {
    const whole = readFileSync(file)
    const path = join(shell.folder, `cut${bytes}.tar.gz`)
    writeFileSync(path, whole.subarray(0, bytes))
    const target = await empty()
    expect(await restore(target, path)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/cut short|not a backup/)
    })
    await isEmpty(target)
  })

  test('when a row was changed, also from standard input', async () => {
    const path = await changed('row.tar.gz', (entries) =>
      entries.map((entry) =>
        entry.name.startsWith('database/users/')
          ? { ...entry, content: Buffer.from(entry.content.toString().replaceAll('\tf\t', '\tt\t')) }
          : entry
      )
    )
    const target = await empty()
    const message = /changed or damaged: database\/users\/00000001 was changed/
    expect(await restore(target, path)).toMatchObject({ code: 4, stderr: expect.stringMatching(message) })
    const input = await restore(target, '-', [], {}, readFileSync(path))
    expect(input).toMatchObject({ code: 4, stderr: expect.stringMatching(message) })
    await isEmpty(target)
  })

  test('when a file of it was left out', async () => {
    const path = await changed('less.tar.gz', (entries) =>
      entries.filter(({ name }) => !name.startsWith('database/teams/'))
    )
    const target = await empty()
    expect(await restore(target, path)).toMatchObject({ code: 4, stderr: expect.stringContaining('was changed') })
    await isEmpty(target)
  })

  test('when it was forged together with its digests, and a key is at hand', async () => {
    const path = await changed('forged.tar.gz', (entries) =>
      withDigests(
        entries.map((entry) =>
          entry.name.startsWith('database/users/')
            ? { ...entry, content: Buffer.from(entry.content.toString().replaceAll('\tf\t', '\tt\t')) }
            : entry
        )
      )
    )
    const target = await empty()
    expect(await restore(target, path, ['--unproven'], { SECRETS_KEYS: ringText })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('the key test did not seal this manifest')
    })
    const unsealed = await changed('unsealed.tar.gz', (entries) => entries.filter(({ name }) => name !== 'seal.json'))
    expect(await restore(target, unsealed, [], { SECRETS_KEYS: ringText })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('nothing proves that it is of this installation')
    })
    await isEmpty(target)
  })

  test('when Postgres refuses its last rows', async () => {
    const path = await changed('twice.tar.gz', (entries) => withDigests(jobsTwice(entries)))
    const target = await empty()
    const ended = await restore(target, path, [], {})
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining('duplicate key') })
    await isEmpty(target)
  })

  test('when it is of a newer version or schema', async () => {
    const target = await empty()
    for (const [field, value] of [
      ['service_version', '99.0.0'],
      ['schema', '9999_of_the_future'],
      ['format_version', 2]
    ] as const) {
      const path = await changed(`${field}.tar.gz`, (entries) =>
        withDigests(
          entries.map((entry) =>
            entry.name === 'head.json'
              ? {
                  ...entry,
                  content: Buffer.from(JSON.stringify({ ...JSON.parse(entry.content.toString()), [field]: value }))
                }
              : entry
          )
        )
      )
      expect(await restore(target, path)).toMatchObject({ code: 4, stderr: expect.stringContaining('or later') })
    }
    await isEmpty(target)
  })

  test('when its keys are not those of the place, which are never overwritten', async () => {
    const target = await empty()
    expect(await restore(target, file, ['--unproven'], other)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        'SECRETS_KEYS does not have the keys that encrypt credentials of the backup (test)'
      )
    })
    await isEmpty(target)
    const keys = join(folderOf(target), 'keys', 'secrets')
    mkdirSync(join(folderOf(target), 'keys'), { recursive: true })
    writeFileSync(keys, other.SECRETS_KEYS)
    expect(await restore(target, file)).toMatchObject({ code: 4, stderr: expect.stringContaining(keys) })
    expect(readFileSync(keys, 'utf8')).toBe(other.SECRETS_KEYS)
  })

  test('when the database is not empty, or a service uses it', async () => {
    const full = await createTestDatabase('restore_full')
    expect(await restore({ ...(await empty()), url: full.url }, file)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/the service is using this database|is not empty/)
    })
    await full.drop()
    const target = await empty()
    const { sql: service, close } = target.open()
    await service`select 1`
    expect(await restore(target, file)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('the service is using this database: stop it first')
    })
    await close()
    const [held] = [target.open()]
    await held!.sql`create table mine (id int)`
    await held!.close()
    expect(await restore(target, file)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('the database is not empty (1 tables and views, such as public.mine)')
    })
  })

  test('when a checkpoint file is there, which proves what came after the backup', async () => {
    const target = await empty()
    const path = join(folderOf(target), 'audit-checkpoints.jsonl')
    mkdirSync(folderOf(target), { recursive: true })
    writeFileSync(path, '{}\n')
    expect(await restore(target, file)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('move it aside and keep it')
    })
    expect(readFileSync(path, 'utf8')).toBe('{}\n')
    await isEmpty(target)
  })
})
