// The small promises of the tree, kept by a machine before a reviewer has to.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { SERVICE_VERSION } from '../apps/api/version.js'
import { errorCatalogue } from '../domain/errors.js'

const root = normalize(join(import.meta.dirname, '..'))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
// Tracked files, and new ones that git does not ignore.
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8'
})
  .split('\n')
  .filter((file) => file && existsSync(join(root, file)))
const sources = files.filter((file) => file.endsWith('.ts'))
const packageJson = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

interface Import {
  from: string
  to: string
  typeOnly: boolean
}

const imports: Import[] = sources.flatMap((from) =>
  [...read(from).matchAll(/^(?:import|export)\s+(type\s+)?(?:[^'"]*?\sfrom\s+)?'(\.[^']+)'/gms)].map((match) => ({
    from,
    to: normalize(join(dirname(from), match[2]!)).replace(/\.js$/, '.ts'),
    typeOnly: match[1] !== undefined
  }))
)

/** `apps/api/routes/jobs.ts` -> `apps/api`; `domain/errors.ts` -> `domain`. */
const folderOf = (file: string): string =>
  file.startsWith('apps/') ? file.split('/').slice(0, 2).join('/') : file.split('/')[0]!

const mayImport: Record<string, string[]> = {
  domain: [],
  db: ['domain'],
  activities: ['domain', 'db'],
  workflows: ['domain'],
  'apps/api': ['domain', 'db', 'activities'],
  'apps/worker': ['domain', 'db', 'activities'],
  'apps/cli': ['domain', 'db', 'tools']
}

describe('arrows between folders point one way', () => {
  test('every import of the product goes along an arrow', () => {
    const wrong = imports.filter(({ from, to, typeOnly }) => {
      const [source, target] = [folderOf(from), folderOf(to)]
      if (source === target || !(source in mayImport)) return false
      // A workflow knows the types of the activities, never their code.
      if (source === 'workflows' && target === 'activities') return !typeOnly
      return !mayImport[source]!.includes(target)
    })
    expect(wrong).toEqual([])
  })

  test('of the command line only administration and the local stack reach the database', () => {
    const wrong = imports.filter(
      ({ from, to }) => folderOf(from) === 'apps/cli' && to.startsWith('db/') && !/(admin|demo|stack)/.test(from)
    )
    expect(wrong).toEqual([])
  })

  test('domain uses nothing of Node and no clock', () => {
    for (const file of sources.filter((name) => name.startsWith('domain/'))) {
      expect([file, /from 'node:|Date\.now\(\)|new Date\(\)|process\./.exec(read(file))?.[0]]).toEqual([
        file,
        undefined
      ])
    }
  })

  test('no import comes back to where it started', () => {
    const next = new Map<string, string[]>()
    for (const { from, to, typeOnly } of imports) if (!typeOnly) next.set(from, [...(next.get(from) ?? []), to])
    const done = new Set<string>()
    const visit = (file: string, path: string[]): string[] | null => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
      if (done.has(file)) return null
      for (const to of next.get(file) ?? []) {
        const cycle = visit(to, [...path, file])
        if (cycle) return cycle
      }
      done.add(file)
      return null
    }
    for (const file of sources) expect(visit(file, [])).toBeNull()
  })
})

describe('files', () => {
  test.each([
    ['a re-export of everything', /^export \*/m],
    ['a focused or skipped test', /\b(?:test|it|describe)\.(?:only|skip|todo)\b/],
    ['a leftover marker', /\b(?:TODO|FIXME|XXX|HACK)\b/]
  ])('none holds %s', (_what, pattern) => {
    const here = 'test/tidy.test.ts'
    expect(sources.filter((file) => file !== here && pattern.test(read(file)))).toEqual([])
  })

  test('none is longer than 450 lines', () => {
    const long = files
      .filter((file) => /\.(ts|mjs|py)$/.test(file))
      .map((file) => ({ file, lines: read(file).split('\n').length }))
      .filter(({ lines }) => lines > 450)
    expect(long).toEqual([])
  })
})

describe('what the documents say is there', () => {
  const documents = files.filter((file) => file.endsWith('.md'))

  test('every npm command is a script', () => {
    for (const file of documents)
      for (const [, script] of read(file).matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g))
        expect([file, script, Object.keys(packageJson.scripts)]).toEqual([
          file,
          script,
          expect.arrayContaining([script])
        ])
  })

  test('every link into the tree leads somewhere', () => {
    for (const file of documents)
      for (const [, target] of read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g))
        expect([file, target, existsSync(join(root, dirname(file), target!))]).toEqual([file, target, true])
  })

  test('every error code has its line in docs/errors.md, with its HTTP status', () => {
    const text = read('docs/errors.md')
    for (const [code, { http }] of Object.entries(errorCatalogue)) expect(text).toContain(`| \`${code}\` | ${http} |`)
  })

  test('the version is the same everywhere, and the change log knows it', () => {
    expect(SERVICE_VERSION).toBe(packageJson.version)
    expect(read('CHANGELOG.md')).toContain(`## ${packageJson.version}`)
  })

  test('every dependency has an exact version', () => {
    const all = { ...packageJson.dependencies, ...packageJson.devDependencies }
    for (const [name, version] of Object.entries(all))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+/)])
  })
})
