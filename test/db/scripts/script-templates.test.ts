// The platform's templates: every database has exactly those of this version, with a version for each change.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../../db/client.js'
import { readTemplates, seedTemplates, type Template } from '../../../db/scripts/script-templates.js'
import { metadataOf, sha256 } from '../../support/jobs/script-rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const root = process.cwd()
const folder = join(root, 'db', 'seed', 'templates')
const database = await createTestDatabase('script_templates')
const { db, close } = connect(database.url, { max: 4 })
afterAll(async () => {
  await close()
  await database.drop()
})

const template = (slug: string, content: string): Template => ({
  slug,
  name: slug,
  description: 'd',
  scriptType: 'script',
  category: 'basics',
  framework: 'openqasm',
  content,
  metadata: metadataOf(content)
})

const seed = (...templates: Template[]) => db.transaction((tx) => seedTemplates(tx, templates))
const rows = async () => [
  ...(await db.execute(sql`select id, slug, version, content, is_active, is_public, is_hardcoded, team_id, updated_at::text
    from scripts where slug in ('one', 'two') order by slug`))
]

describe('the shipped templates', () => {
  test('are in the database after the migration, public and without an owner', async () => {
    const shipped = readTemplates(folder)
    expect(shipped.map(({ slug }) => slug)).toEqual(
      expect.arrayContaining([
        'bell-state',
        'ghz-state',
        'vqe-h2',
        'qaoa-maxcut',
        'grover-search',
        'quantum-teleportation',
        'randomized-benchmarking'
      ])
    )
    const seeded = await db.execute(sql`select slug, content, version from scripts
      where team_id is null and user_id is null and is_public and is_hardcoded and is_active order by id`)
    expect([...seeded]).toEqual(shipped.map(({ slug, content }) => ({ slug, content, version: 1 })))
  })

  test('have current metadata: otherwise run node tools/template-metadata.mjs', () => {
    const told = execFileSync(process.execPath, [join(root, 'tools/template-metadata.mjs'), '--print'], {
      encoding: 'utf8'
    })
    expect(JSON.parse(readFileSync(join(folder, 'metadata.json'), 'utf8'))).toEqual(JSON.parse(told))
  })
})

describe('seeding templates', () => {
  beforeEach(async () => {
    await db.execute(sql`delete from scripts`)
  })

  test('twice changes nothing', async () => {
    await seed(template('one', 'x'), template('two', 'y'))
    const before = await rows()
    await seed(template('one', 'x'), template('two', 'y'))
    expect(await rows()).toEqual(before)
  })

  test('creates a version for changed content, and none for a changed description', async () => {
    await seed(template('one', 'x'))
    const [{ id } = {}] = await rows()
    await seed({ ...template('one', 'x'), description: 'other' })
    await seed(template('one', 'changed'))
    expect(await rows()).toMatchObject([{ id, version: 2, content: 'changed' }])
    const kept = await db.execute(sql`select version, content from script_versions order by version`)
    expect([...kept]).toEqual([
      { version: 1, content: 'x' },
      { version: 2, content: 'changed' }
    ])
  })

  test('deletes a template that is no longer shipped, and restores it as the same script', async () => {
    await seed(template('one', 'x'), template('two', 'y'))
    const [one] = await rows()
    await seed(template('two', 'y'))
    expect(await rows()).toMatchObject([
      { slug: 'one', is_active: false },
      { slug: 'two', is_active: true }
    ])
    await seed(template('one', 'z'), template('two', 'y'))
    expect(await rows()).toMatchObject([{ id: one!.id, is_active: true, version: 2 }, { slug: 'two' }])
  })
})

describe('a folder of templates', () => {
  test('without a manifest has no templates', () => {
    expect(readTemplates(join(root, 'db'))).toEqual([])
  })

  test('with metadata of another source has only the digest', () => {
    const made = mkdtempSync(join(tmpdir(), 'templates-'))
    try {
      const line = {
        slug: 'one',
        name: 'n',
        description: 'd',
        script_type: 'script',
        category: 'c',
        framework: 'qiskit'
      }
      writeFileSync(join(made, 'manifest.json'), JSON.stringify([line]))
      writeFileSync(join(made, 'one.py'), 'x = 1\n')
      writeFileSync(join(made, 'metadata.json'), JSON.stringify({ one: metadataOf('x = 2\n') }))
      expect(readTemplates(made)[0]!.metadata).toEqual({
        framework: 'qiskit',
        imports: [],
        functions: [],
        entry_point: null,
        source_sha256: sha256('x = 1\n')
      })
    } finally {
      rmSync(made, { recursive: true })
    }
  })
})
