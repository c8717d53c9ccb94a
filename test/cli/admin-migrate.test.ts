// `qjob admin migrate`, and what api, worker and the other commands say about a schema that they cannot use.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { migrate } from '../../db/migrate.js'
import { laterMigration, own, ownSeeds } from '../db/schema/made-up.js'
import { createTestDatabase, type TestDatabase } from '../support/stack/database.js'
import { Shell } from './qjob.js'

let database: TestDatabase
let shell: Shell

beforeAll(async () => {
  database = await createTestDatabase('admin_migrate', { template: null, max: 2 })
  shell = new Shell({ DATABASE_URL: database.url })
})

afterAll(async () => {
  shell?.remove()
  await database?.drop()
})

/** Starts a program that must refuse to start. @returns what it logs. */
async function refusal(program: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [join(projectRoot, program)], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      REDIS_URL: process.env.TEST_REDIS_URL,
      TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
      EXECUTOR_URL: process.env.TEST_EXECUTOR_URL,
      EXECUTOR_TOKEN: process.env.TEST_EXECUTOR_TOKEN,
      WORKFLOW_BUNDLE: process.env.TEST_WORKFLOW_BUNDLE,
      PORT: '0',
      ...env
    },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (part) => (text += part))
  const [code] = await once(child, 'close')
  expect(code).toBe(1)
  return text
}

const programs = ['dist/apps/api/server.js', 'dist/apps/worker/main.js']

test('with MIGRATE=check, api and worker refuse a database that was not migrated, and change nothing', async () => {
  for (const program of programs)
    expect(await refusal(program, { MIGRATE: 'check' })).toContain(
      `it has 0 of ${own.length} migrations. Run \\"qjob admin migrate\\" of this version first`
    )
  expect(await database.sql`select to_regclass('drizzle.__drizzle_migrations') as found`).toEqual([{ found: null }])
})

test.each(programs)('another value of MIGRATE stops %s', async (program) => {
  expect(await refusal(program, { MIGRATE: 'never' })).toContain('MIGRATE must be one of auto, check (got never)')
})

test('the command migrates and seeds, and says what it did', async () => {
  expect(await shell.run(['admin', 'teams'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('has no tables yet: run "qjob admin migrate"')
  })
  const first = await shell.run(['admin', 'migrate'])
  expect([first.code, first.stdout]).toEqual([
    0,
    `schema: from 0 to ${own.length} migrations\nseeds: from version 0 to ${ownSeeds.version}\n`
  ])
  expect(first.stderr).toContain(`applied migration ${own.at(-1)!.tag}\n`)
  expect(await shell.run(['admin', 'migrate'])).toEqual({
    code: 0,
    stdout: `Nothing to do.\nschema: ${own.length} migrations\nseeds: version ${ownSeeds.version}\n`,
    stderr: ''
  })
  const again = await shell.run(['admin', 'migrate', '--json'])
  expect(JSON.parse(again.stdout)).toEqual({
    schema: { from: own.length, to: own.length },
    seeds: { from: ownSeeds.version, to: ownSeeds.version }
  })
  expect((await shell.run(['admin', 'teams'])).code).toBe(0)
})

test('a command of an older or newer version refuses a schema that it cannot use', async () => {
  const contracting = laterMigration(['select 1'], { minimum: own.length + 1 })
  await migrate(database.url, { migrations: [...own, contracting] })
  for (const command of [
    ['admin', 'migrate'],
    ['admin', 'create-code']
  ])
    expect(await shell.run(command)).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('this version is too old for the database')
    })
  for (const program of programs)
    expect(await refusal(program, {})).toContain('this version is too old for the database')
  await database.sql`update schema_compatibility set minimum_migrations = 0`
  expect((await shell.run(['admin', 'create-code'])).code).toBe(0)
  await database.sql`delete from drizzle.__drizzle_migrations where created_at >= ${own.at(-1)!.when}`
  expect(await shell.run(['admin', 'create-code'])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`it has ${own.length - 1} of ${own.length} migrations. Run "qjob admin migrate"`)
  })
})

test('an address that cannot be used is refused', async () => {
  const env = (url: string) => ({ DATABASE_URL: url })
  expect(await shell.run(['admin', 'migrate'], '', env('somewhere'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('DATABASE_URL')
  })
  expect(await shell.run(['admin', 'migrate'], '', env('postgres://qjs@127.0.0.1:2/qjs'))).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('does not respond')
  })
})
