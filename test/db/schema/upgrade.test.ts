// Programs of several versions on one database: each uses a schema that it can use, refuses any other, and takes nothing back.
import { afterAll, describe, expect, test } from '@jest/globals'
import { checkSchema, migrate } from '../../../db/migrate.js'
import { createTestDatabase, type TestDatabase } from '../../support/stack/database.js'
import { laterMigration, laterSeeds, own, ownSeeds } from './made-up.js'

const databases: TestDatabase[] = []
const newDatabase = async (template?: null) => {
  const database = await createTestDatabase('upgrade', { max: 2, ...(template === null && { template }) })
  databases.push(database)
  return database
}
afterAll(() => Promise.all(databases.map((database) => database.drop())))

describe('a program with fewer migrations', () => {
  test('starts on a schema that was only expanded, and changes nothing', async () => {
    const { url, sql } = await newDatabase()
    const told: string[] = []
    const newer = [...own, laterMigration(['alter table teams add column place text'])]
    expect((await migrate(url, { migrations: newer })).schema).toEqual({ from: own.length, to: own.length + 1 })
    expect((await migrate(url, { log: (message) => told.push(message) })).schema).toEqual({
      from: own.length + 1,
      to: own.length + 1
    })
    expect(told).toEqual([expect.stringContaining(`of which this version knows ${own.length}`)])
    await checkSchema(url)
    expect(await sql`select place from teams`).toEqual([])
  })

  test('refuses a schema that requires more, and starts with as many as it requires', async () => {
    const { url } = await newDatabase()
    const expanding = laterMigration(['alter table teams add column place text'])
    const contracting = laterMigration(['alter table teams drop column place'], { minimum: own.length + 1 })
    const lower = laterMigration(['select 1'], { minimum: 3 })
    await migrate(url, { migrations: [...own, expanding, contracting, lower] })
    const refusal = {
      code: 'conflict',
      message: expect.stringMatching(
        `it knows ${own.length} migrations, and the schema requires a version that knows ${own.length + 1}\\. Start such`
      )
    }
    await expect(migrate(url)).rejects.toMatchObject(refusal)
    await expect(checkSchema(url)).rejects.toMatchObject(refusal)
    expect((await migrate(url, { migrations: [...own, expanding] })).schema.to).toBe(own.length + 3)
    await checkSchema(url, { migrations: [...own, expanding] })
  })
})

test('a program that must not migrate refuses a schema that lacks a migration, and an empty database', async () => {
  const { url, sql } = await newDatabase()
  const newer = [...own, laterMigration(['create table places (id uuid)'])]
  const lacking = (applied: number, known: number) =>
    expect.objectContaining({
      code: 'conflict',
      message: expect.stringContaining(`it has ${applied} of ${known} migrations. Run "qjob admin migrate"`)
    })
  await expect(checkSchema(url, { migrations: newer })).rejects.toEqual(lacking(own.length, own.length + 1))
  expect(await sql`select to_regclass('places') as found`).toEqual([{ found: null }])
  await migrate(url, { migrations: newer })
  await checkSchema(url, { migrations: newer })
  const empty = await newDatabase(null)
  await expect(checkSchema(empty.url)).rejects.toEqual(lacking(0, own.length))
})

test('a database of another line of versions is refused before anything is applied', async () => {
  const { url, sql } = await newDatabase()
  await migrate(url, { migrations: [...own, laterMigration(['select 1'])] })
  const others = [...own, laterMigration(['select 1']), laterMigration(['create table places (id uuid)'])]
  await expect(migrate(url, { migrations: others })).rejects.toMatchObject({
    message: expect.stringContaining(`its migration ${own.length} is not the one that this version knows`)
  })
  expect(await sql`select to_regclass('places') as found`).toEqual([{ found: null }])
})

describe('the seeds of a newer version', () => {
  const seeded = async ({ sql }: TestDatabase) => {
    const [templates] =
      await sql`select string_agg(distinct description, ',') as texts from scripts where team_id is null`
    const later = await sql`select slug from backends where slug like 'later-%' order by slug`
    return { texts: templates!.texts, backends: later.map(({ slug }) => slug) }
  }
  const laterOnes = { texts: 'later 2', backends: ['later-2'] }

  test('stay when an older program starts again', async () => {
    const database = await newDatabase()
    expect((await migrate(database.url, { seeds: laterSeeds(2) })).seeds).toEqual({
      from: ownSeeds.version,
      to: ownSeeds.version + 2
    })
    expect(await seeded(database)).toEqual(laterOnes)
    await migrate(database.url)
    await migrate(database.url, { seeds: laterSeeds(1) })
    expect(await seeded(database)).toEqual(laterOnes)
  })

  test('are not written by a program with fewer migrations than the schema has', async () => {
    const database = await newDatabase()
    await migrate(database.url, { migrations: [...own, laterMigration(['select 1'])], seeds: laterSeeds(2) })
    expect((await migrate(database.url, { seeds: laterSeeds(3) })).seeds.to).toBe(ownSeeds.version + 2)
    expect(await seeded(database)).toEqual(laterOnes)
  })

  test('are written again at the next start when a version without seed versions has replaced them', async () => {
    const database = await newDatabase()
    await migrate(database.url, { seeds: laterSeeds(2) })
    await database.sql`update scripts set description = 'from before' where team_id is null`
    await database.sql`delete from backends where slug = 'later-2'`
    await migrate(database.url, { seeds: laterSeeds(2) })
    expect(await seeded(database)).toEqual(laterOnes)
  })
})
