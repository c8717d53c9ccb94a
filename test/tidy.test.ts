// The small promises of this code base, kept by a machine.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { SERVICE_VERSION } from '../apps/api/version.js'
import { errorCatalogue } from '../domain/errors.js'

const root = dirname(import.meta.dirname)
const LINES_MAX = 450

const notOurs = /(^|\/)(node_modules|dist|__pycache__|\.[^/]+|[^/]+\.egg-info)(\/|$)/
/** Made by a tool, or data. */
const notWritten =
  /^(package-lock\.json|db\/(migrations|seed)\/|tools\/(temporal|helm|versitygw)\/go\.|test\/.*\/(histories|fixtures)\/|apps\/executor\/requirements|deploy\/monitoring\/dashboard\.json|docs\/cli\.md|apps\/console\/api\/schema\.ts)/

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    const name = relative(root, path)
    if (notOurs.test(name)) return []
    return entry.isDirectory() ? walk(path) : entry.isFile() ? [name] : []
  })
}

const files = walk(root)
const written = files.filter(
  (name) => /\.(ts|tsx|css|html|mts|mjs|cjs|js|py|sh|md|yml|yaml|sql|json|toml)$/.test(name) && !notWritten.test(name)
)
/** Outside of `files`, since their folders begin with a dot. */
const automation = readdirSync(join(root, '.github'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
const runnable = [
  ...automation,
  '.devcontainer/devcontainer.json',
  '.ci/run',
  ...files.filter((name) => /(^|\/)Dockerfile$|^apps\/executor\/scripts\//.test(name))
]
const typescript = files.filter((name) => /\.tsx?$/.test(name))
const read = (name: string): string => readFileSync(join(root, name), 'utf8')
const manifest = JSON.parse(read('package.json')) as Record<
  'scripts' | 'dependencies' | 'devDependencies',
  Record<string, string>
> & {
  version: string
  license: string
}
/** Of https://www.apache.org/licenses/LICENSE-2.0.txt. */
const apacheLicenseSha256 = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'

interface Import {
  from: string
  /** A file of ours, or the name of a package. */
  to: string
  ours: boolean
  typeOnly: boolean
}

function importsOf(from: string): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s+)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/gm
  return [...read(from).matchAll(pattern)].map((match) => {
    const target = match[2] ?? match[3]!
    const ours = target.startsWith('.')
    const to = ours ? fileOf(join(dirname(from), target)) : target
    // `import { type A, type B }` brings no code either.
    const names = /\{([^}]*)\}/.exec(match[0])?.[1]
    const onlyTypes = names?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false
    const defaultToo = /^import\s+\w+\s*,/.test(match[0])
    return { from, to, ours, typeOnly: match[1] !== undefined || (onlyTypes && !defaultToo) }
  })
}

/** The file of ours that an import names as it is called when it is built. */
function fileOf(path: string): string {
  const source = path.replace(/\.js$/, '.ts')
  const withMarkup = `${source}x`
  return files.includes(withMarkup) ? withMarkup : source
}

const imports = typescript.flatMap(importsOf)
const shown = (found: Import[]): string[] => found.map(({ from, to }) => `${from} -> ${to}`)

/** The room of db that a file is in; empty for the files of db itself. */
const roomOf = (name: string): string => (name.split('/').length > 2 ? name.split('/')[1]! : '')

describe('the arrows between folders', () => {
  const mayImport: Record<string, RegExp> = {
    domain: /^domain\//,
    db: /^(db|domain)\//,
    'capsule-format': /^(capsule-format|domain)\//,
    services: /^(services|capsule-format|db|domain)\//,
    activities: /^(activities|services|db|domain)\//,
    workflows: /^(workflows|domain)\//,
    'apps/api': /^(apps\/api|services|capsule-format|db|domain)\//,
    'apps/worker': /^(apps\/worker|activities|services|workflows|db|domain)\//,
    'apps/cli': /^(apps\/cli|capsule-format|domain|tools)\//,
    // A client of the API: what it shows comes from there. Only the reading of JSON text and the verdict on two runs are shared.
    'apps/console': /^(apps\/console\/|domain\/verification\/|domain\/json\/json-text\.ts$)/,
    // The emulators share nothing with the product but the form of its logs, so a fault of an adapter is not repeated here.
    'apps/emulators': /^(apps\/emulators\/|services\/telemetry\/log\.ts$)/
  }
  // Commands that work on the database itself, for example before the first user can sign in.
  const cliWithDatabase = /^apps\/cli\/((stack|backup)\/.*|commands\/(admin\/[a-z-]+|demo))\.ts$/

  test.each(Object.entries(mayImport))('%s imports only from folders below it', (folder, allowed) => {
    const found = imports.filter(({ from, to, ours, typeOnly }) => {
      if (!ours || !from.startsWith(`${folder}/`) || allowed.test(to)) return false
      if (folder === 'workflows' && typeOnly && to.startsWith('activities/')) return false
      return !(
        cliWithDatabase.test(from) &&
        /^(db|services\/(keys|audit|content-store))\/|^services\/telemetry\/log\.ts$/.test(to)
      )
    })
    expect(shown(found)).toEqual([])
  })

  test('each room of db imports only rooms that stand before it in the order, type imports included', () => {
    const order = [
      'connection',
      '',
      'schema',
      'backup',
      'tables',
      'accounts',
      'money',
      'teams',
      'jobs',
      'audit',
      'backends',
      'scripts',
      'contents',
      'capsules',
      'provider-jobs',
      'job-steps',
      'service',
      'submissions',
      'admin',
      'capsule-runs',
      'deletion',
      'proofs'
    ]
    const rooms = new Set(typescript.filter((name) => name.startsWith('db/')).map(roomOf))
    expect([...rooms].sort()).toEqual([...order].sort())
    const upwards = imports.filter(
      ({ from, to, ours }) =>
        ours &&
        from.startsWith('db/') &&
        to.startsWith('db/') &&
        // The migration seeds the tables of two rooms; nothing of db imports it.
        from !== 'db/migrate.ts' &&
        order.indexOf(roomOf(to)) > order.indexOf(roomOf(from))
    )
    expect(shown(upwards)).toEqual([])
  })

  test.each(['domain', 'services', 'activities', 'apps/cli/commands'])(
    'no two rooms of %s import each other',
    (folder) => {
      const room = (name: string): string => name.slice(folder.length + 1).split('/')[0]!
      const inside = imports.filter(
        ({ from, to, ours }) => ours && from.startsWith(`${folder}/`) && to.startsWith(`${folder}/`)
      )
      const pairs = new Set(inside.map(({ from, to }) => `${room(from)} ${room(to)}`))
      const mutual = [...pairs].filter((pair) => {
        const [from, to] = pair.split(' ')
        return from !== to && pairs.has(`${to} ${from}`)
      })
      expect(mutual).toEqual([])
    }
  )

  test('activities hold nothing but activities and their steps', () => {
    expect(files.filter((name) => /^activities\/(?!(job|provider|capsule)\/)/.test(name))).toEqual([])
  })

  test('the product imports nothing of its tests and benches', () => {
    const found = imports.filter(
      ({ from, to, ours }) => ours && !/^(test|bench)\//.test(from) && /^(test|bench)\//.test(to)
    )
    expect(shown(found)).toEqual([])
  })

  test('domain is pure: no built-in of Node, no clock, no chance, no environment', () => {
    // Functions of their arguments, all of them.
    const pure = ['typebox', 'typebox/value', 'canonicalize', 'cron-parser']
    const packages = imports.filter(({ from, to, ours }) => !ours && from.startsWith('domain/') && !pure.includes(to))
    expect(shown(packages)).toEqual([])
    const impure = /\bprocess\.|Date\.now\(|new Date\(\)|Math\.random|setTimeout|performance\./
    expect(typescript.filter((name) => name.startsWith('domain/') && impure.test(read(name)))).toEqual([])
  })

  test('a workflow has no clock but that of Temporal, no environment and no chance of its own', () => {
    const impure = /\bprocess\.|node:|performance\.|crypto/
    expect(typescript.filter((name) => name.startsWith('workflows/') && impure.test(read(name)))).toEqual([])
  })
})

test('no file imports itself through others, type imports included', () => {
  const next = new Map<string, string[]>()
  for (const { from, to, ours } of imports) if (ours) next.set(from, [...(next.get(from) ?? []), to])
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (name: string, path: string[]): void => {
    if (path.includes(name)) cycles.push([...path.slice(path.indexOf(name)), name].join(' -> '))
    if (done.has(name) || path.includes(name)) return
    for (const to of next.get(name) ?? []) visit(to, [...path, name])
    done.add(name)
  }
  for (const name of typescript) visit(name, [])
  expect(cycles).toEqual([])
})

test('every import of our own leads to a file that is there', () => {
  const all = new Set(files)
  const lost = imports.filter(
    ({ to, ours }) => ours && !to.startsWith('dist/') && !all.has(to) && !all.has(to.replace(/\.ts$/, '.js'))
  )
  expect(shown(lost)).toEqual([])
})

describe('what no file holds', () => {
  // Put together so that this file does not hold them itself.
  const word = (...parts: string[]) => parts.join('')
  const code = written.filter((name) => !name.endsWith('.md') && !name.endsWith('.json'))

  test.each([
    ['a wildcard re-export', new RegExp(`^${word('export', ' \\*')} `, 'm'), typescript],
    [
      'a test that runs alone, or not at all',
      new RegExp(
        `\\b(${word('test', '|it', '|describe')})\\.(${word('only', '|skip', '|todo')})\\b|\\b(${word('x', 'test')}|${word('f', 'describe')}|${word('f', 'it')}|${word('x', 'it')})\\(|pytest\\.mark\\.(skip|xfail)\\b(?!if)`
      ),
      code.filter((name) => /(^|\/)tests?\//.test(name))
    ],
    [
      'a leftover marker',
      new RegExp(`\\b(${word('TO', 'DO')}|${word('FIX', 'ME')}|${word('XX', 'X')}|${word('HA', 'CK')})\\b`),
      written
    ],
    ['a path of one machine', new RegExp(`${word('/wo', 'rk/')}|${word('/ro', 'ot/\\.')}`), written]
  ])('%s', (_what, pattern, names) => {
    expect(names.filter((name) => pattern.test(read(name)))).toEqual([])
  })
})

test(`no file is longer than ${LINES_MAX} lines`, () => {
  const long = written
    .map((name) => [name, read(name).split('\n').length - 1] as const)
    .filter(([, lines]) => lines > LINES_MAX)
  expect(long).toEqual([])
})

test('no folder holds more than 20 files, but tables, migrations, decisions and the data of tests', () => {
  const data =
    /^(db\/(tables|migrations|seed)|docs\/decisions|test\/.*\/(histories|fixtures)|apps\/executor\/tests\/programs)(\/|$)/
  const counts = new Map<string, number>()
  for (const name of files) counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1)
  const crowded = [...counts].filter(([folder, count]) => count > 20 && !data.test(folder))
  expect(crowded).toEqual([])
})

describe('documents', () => {
  const documents = files.filter((name) => name.endsWith('.md'))

  test('and comments name only commands that exist', () => {
    const missing = [...written, ...runnable].flatMap((name) => {
      const text = read(name)
      const scripts = [...text.matchAll(/\bnpm (?:run (?:-\S+ )*(\w[\w:-]*)|(start|test)\b)/g)]
      const programs = [...text.matchAll(/\bnode (tools\/[\w./-]*\w)/g)]
      // Within its own folder the executor names its scripts without the path.
      const ownScripts = name.startsWith('apps/executor/') ? '(?:apps/executor/)?' : 'apps/executor/'
      const executor = [...text.matchAll(new RegExp(`(?<![\\w./-])${ownScripts}(scripts/[a-z][a-z-]*)`, 'g'))]
      return [
        ...scripts.filter(([, script, short]) => !manifest.scripts[script ?? short!]),
        ...programs.filter(([, path]) => !existsSync(join(root, path!))),
        ...executor.filter(([, path]) => !existsSync(join(root, 'apps/executor', path!)))
      ].map(([command]) => `${name}: ${command}`)
    })
    expect(missing).toEqual([])
  })

  test('and comments name only files that are there', () => {
    const all = new Set(files)
    const named =
      /(?<![\w./-])(?:domain|db|activities|services|capsule-format|workflows|apps|bench|deploy|docs|test|tools)\/[\w./-]*\w\.(?:ts|mts|mjs|py|md|json|sql|sh)(?![\w-])/g
    const lost = written.flatMap((name) =>
      [...read(name).matchAll(named)].flatMap(([path]) =>
        all.has(path) || all.has(join(dirname(name), path)) ? [] : [`${name}: ${path}`]
      )
    )
    expect(lost).toEqual([])
  })

  test('and links lead somewhere', () => {
    const lost = documents.flatMap((name) =>
      [...read(name).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].flatMap(([, target]) =>
        existsSync(join(root, dirname(name), target!)) ? [] : [`${name}: ${target}`]
      )
    )
    expect(lost).toEqual([])
  })

  test.each([
    ['docs/errors.md', 'tools/errors-doc.mjs', 'the error catalogue'],
    ['docs/limits.md', 'tools/limits-doc.mjs', 'the limits that the service enforces']
  ])('%s is what %s writes from %s', (page, tool) => {
    const written = execFileSync(process.execPath, [join(root, tool), '--print'], { encoding: 'utf8' })
    expect(read(page)).toBe(written)
  })

  test('docs/operations/metrics.md lists the metrics that the api and the worker register', () => {
    const written = execFileSync(process.execPath, [join(root, 'tools/metrics-doc.mjs'), '--print'], {
      encoding: 'utf8'
    })
    expect(read('docs/operations/metrics.md')).toBe(written)
  })
})

describe('continuous integration', () => {
  const steps = automation.flatMap((name) =>
    [...read(name).matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action]) => ({ name, action: action! }))
  )

  test('runs actions of others at a pinned commit, with its version beside it', () => {
    const outside = steps.filter(({ action }) => !action.startsWith('./'))
    expect(outside.length).toBeGreaterThan(0)
    expect(outside.filter(({ action }) => !/^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  })

  test('runs one commit of each action', () => {
    const pins = new Set(steps.map(({ action }) => action))
    const actions = new Set(steps.map(({ action }) => action.split('@')[0]))
    expect(pins.size).toBe(actions.size)
  })

  test('may read the repository and nothing more', () => {
    for (const name of automation.filter((name) => name.startsWith('.github/workflows/'))) {
      const workflow = parse(read(name)) as { permissions?: unknown; jobs: Record<string, { permissions?: unknown }> }
      expect([name, workflow.permissions]).toEqual([name, { contents: 'read' }])
      for (const [job, { permissions }] of Object.entries(workflow.jobs))
        expect([job, permissions]).toEqual([job, undefined])
    }
  })
})

test('every error code of the catalogue is used', () => {
  const product = files.filter(
    (name) =>
      /^(domain|db|activities|services|capsule-format|workflows|apps)\/.*\.(ts|py)$/.test(name) &&
      !/^domain\/error(s|-guide)\.ts$/.test(name)
  )
  const text = product.map(read).join('\n')
  expect(Object.keys(errorCatalogue).filter((code) => !new RegExp(`['"]${code}['"]|\\b${code}:`).test(text))).toEqual(
    []
  )
})

describe('package.json', () => {
  const packageOf = (name: string): string =>
    name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/')
  const importsOfConsole = imports.filter(({ from, ours }) => !ours && from.startsWith('apps/console/'))

  test('has the version that the service tells and the change log knows', () => {
    expect(manifest.version).toBe(SERVICE_VERSION)
    expect(read('CHANGELOG.md')).toContain(`## [${manifest.version}] - `)
    expect(read('apps/executor/qjs_executor/__init__.py')).toContain(`__version__ = "${manifest.version}"`)
    expect(read('apps/executor/pyproject.toml')).toContain(`version = "${manifest.version}"`)
  })

  test('names the licence whose whole text is in LICENSE', () => {
    expect(manifest.license).toBe('Apache-2.0')
    expect(createHash('sha256').update(read('LICENSE')).digest('hex')).toBe(apacheLicenseSha256)
  })

  test('names exact versions, and the lock file the same', () => {
    const lock = JSON.parse(read('package-lock.json')).packages as Record<string, { version: string }>
    const direct = { ...manifest.dependencies, ...manifest.devDependencies }
    for (const [name, version] of Object.entries(direct)) {
      // A folder of this repository, whose package.json has the versions.
      if (version.startsWith('file:')) {
        const own = JSON.parse(read(`${version.slice('file:'.length)}/package.json`)).dependencies as object
        for (const [dependency, exact] of Object.entries(own))
          expect([dependency, exact]).toEqual([dependency, expect.stringMatching(/^\d+\.\d+\.\d+$/)])
        continue
      }
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)])
      expect([name, lock[`node_modules/${name}`]?.version]).toEqual([name, version])
    }
  })

  test('bundles the packages of the console, so an installed service needs none of them', () => {
    const used = new Set(importsOfConsole.map(({ to }) => packageOf(to)))
    expect(used.size).toBeGreaterThan(5)
    expect([...used].filter((name) => !manifest.devDependencies[name])).toEqual([])
  })

  test('names every package that the product imports, and none that nothing uses', () => {
    const imported = new Set(
      imports.filter(({ to, ours }) => !ours && !to.startsWith('node:')).map(({ to }) => packageOf(to))
    )
    const direct = { ...manifest.dependencies, ...manifest.devDependencies }
    expect([...imported].filter((name) => !direct[name])).toEqual([])
    // What the console imports is bundled into its files, so that the service itself needs none of it.
    const forTests = [...imported].filter((name) => !manifest.dependencies[name])
    const inProduct = imports.filter(
      ({ from, to, ours, typeOnly }) =>
        !ours &&
        !typeOnly &&
        /^(domain|db|activities|services|capsule-format|workflows|apps(?!\/console))\//.test(from) &&
        forTests.includes(to)
    )
    expect(shown(inProduct)).toEqual([])
  })
})
