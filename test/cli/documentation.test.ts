// The pages about commands and settings describe exactly what the programs do.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { longTest } from '../support/lane.js'
import { Shell } from './qjob.js'

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

let shell: Shell

beforeAll(() => {
  shell = new Shell()
})

afterAll(() => shell.remove())

const helps = new Map<string, Promise<string>>()

function helpOf(command: string[]): Promise<string> {
  const name = command.join(' ')
  const help = helps.get(name) ?? shell.run([...command, '--help']).then(({ stdout }) => stdout.trimEnd())
  helps.set(name, help)
  return help
}

/** The commands that a help text lists, without `help` itself. */
const listed = (help: string): string[] =>
  [...(help.split('Commands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help')

longTest(
  'docs/cli.md shows the exact help of every command',
  async () => {
    const page = read('docs/cli.md')
    const main = await helpOf([])
    const commands = listed(main).map((name) => [name])
    const below = await Promise.all(
      commands.map(async (command) => listed(await helpOf(command)).map((name) => [...command, name]))
    )
    const all = [...commands, ...below.flat()]
    const headings = [...page.matchAll(/^##+ qjob ([a-z -]+)$/gm)].map(([, name]) => name!)
    expect(headings.sort()).toEqual(all.map((command) => command.join(' ')).sort())
    expect(page).toContain(`\n## qjob\n\n\`\`\`text\n${main}\n\`\`\`\n`)
    for (const command of all) {
      const [, section] = page.split(new RegExp(`^##+ qjob ${command.join(' ')}$`, 'm'))
      expect(section!.split(/^##/m)[0]).toContain(`\n\`\`\`text\n${await helpOf(command)}\n\`\`\`\n`)
    }
  },
  120_000
)

test('docs/operations/configuration.md describes every variable that is read anywhere, and no other', () => {
  expect(described(read('docs/operations/configuration.md'))).toEqual(variablesRead())
})

test('every setting of the service is given to it by a test', () => {
  const [ofService] = read('docs/operations/configuration.md').split('## Build and tests')
  const tests = ['test', 'apps/executor/tests', 'clients/python/tests']
    .flatMap((folder) => readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(ts|py)$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  const named = new Set(tests.flatMap((text) => text.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []))
  expect(described(ofService!).filter((name) => !named.has(name))).toEqual([])
})

/** The variables that the tables of a page describe. */
function described(page: string): string[] {
  const cells = [...page.matchAll(/^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \|/gm)]
  return [...new Set(cells.flatMap(([, cell]) => cell!.match(/[A-Z0-9_]+/g) ?? []))].sort()
}

test('links between the pages lead to files that exist', () => {
  const pages = ['README.md', 'docs/cli.md', 'docs/operations/configuration.md', 'docs/operations/deployment/README.md']
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => join(dirname(page), link!))
  )
  expect(links.length).toBeGreaterThan(5)
  expect(links.filter((link) => !existsSync(join(projectRoot, link)))).toEqual([])
})

/**
 * All variables in the sources: names after `env.`, first arguments of the functions that read one variable, and the
 * variables of the registry of providers.
 */
function variablesRead(): string[] {
  const found = new Set<string>()
  for (const file of sourceFiles()) {
    const text = read(file)
    const reads = file.endsWith('.py')
      ? /(?:\benv\.get\(|\benviron\.get\(|\benviron\[|_integer\(env, )"([A-Z][A-Z_]+)"/g
      : /\benv(?:\.|\[')([A-Z][A-Z_]+)\b|\b(?:need|text|seconds|factor|bytesOf)\('([A-Z][A-Z_]+)'|(?<=\burls: \{[^}]*)'([A-Z][A-Z0-9_]+)'/g
    for (const [, first, second, third] of text.matchAll(reads)) found.add(first ?? second ?? third!)
  }
  return [...found].sort()
}

function sourceFiles(): string[] {
  const folders = [
    'activities',
    'apps',
    'bench',
    'capsule-format',
    'db',
    'domain',
    'services',
    'test',
    'tools',
    'workflows'
  ]
  return folders.flatMap((folder) =>
    readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs|cjs|js|py)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(projectRoot.length + 1))
      .filter((file) => !/^(test\/cli\/documentation|apps\/executor\/tests)|\/node_modules\//.test(file))
  )
}
