// Every code block of README, CONTRIBUTING, ARCHITECTURE and docs/ is of a kind that a test executes or checks.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { startApi } from '../support/api/api.js'
import { at, type Block, blocks, commandsOf, type Kind, pages } from './blocks.js'
import { exceptionOf, exceptions } from './exceptions.js'
import { responses } from './responses.js'

const api = await startApi('docs_blocks')
afterAll(() => api.close())

const of = (kind: Kind): Block[] => blocks.filter((block) => block.kind === kind)

test('every block has a kind, and no drawing or output is a command', () => {
  expect(pages.length).toBeGreaterThan(40)
  expect(blocks.length).toBeGreaterThan(100)
  expect(blocks.filter(({ kind }) => kind === null).map(at)).toEqual([])
  const commands = /^(npx |npm |qjob |curl |docker |pip |python)/m
  expect(
    of('text')
      .filter(({ text }) => commands.test(text))
      .map(at)
  ).toEqual([])
})

test('every exception names a command that is there', () => {
  const lost = exceptions.filter(
    ({ page, begins }) =>
      !of('shell').some(
        (block) => block.page === page && commandsOf(block).some((command) => command.startsWith(begins))
      )
  )
  expect(lost).toEqual([])
  expect(of('shell').flatMap(commandsOf).length).toBeGreaterThan(2 * exceptions.length)
  // The first that matches counts.
  for (const { page, begins } of exceptions) expect(exceptionOf(page, begins)).toMatchObject({ page, begins })
})

type Operation = { requestBody?: { content: Record<string, { schema: object }> } }
const document = (await api.ask('GET', '/openapi.json')).body as {
  paths: Record<string, Record<string, Operation>>
  components: object
}
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ $id: 'api', components: document.components })

/** @returns the faults of a body for an operation. */
function faultsOf(method: string, path: string, body: unknown): unknown[] {
  const [asked] = path.split('?') as [string]
  const templates = Object.keys(document.paths)
  const template =
    templates.find((known) => known === asked) ??
    templates.find((known) => new RegExp(`^${known.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(asked))
  const operation = document.paths[template ?? '']?.[method.toLowerCase()]
  if (!operation) return [`${method} ${path} is not an operation`]
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema) return body === undefined ? [] : [`${method} ${path} takes no JSON`]
  const text = JSON.stringify(schema).replaceAll('"#/components', '"api#/components')
  const validate = ajv.compile(JSON.parse(text))
  return validate(body) ? [] : (validate.errors ?? [])
}

test.each(of('request').map((block) => [at(block), block] as const))(
  '%s is a request that the API has',
  (_at, { text }) => {
    const [first = '', ...rest] = text.trim().split('\n')
    const [, method = '', path = ''] = /^([A-Z]+) +(\S+)$/.exec(first) ?? []
    const body = rest.length > 0 ? JSON.parse(rest.join('\n')) : undefined
    expect(faultsOf(method, path, body)).toEqual([])
  }
)

test('every request that a block of text names is one that the API has', () => {
  const lines = of('text').flatMap((block) =>
    [...block.text.matchAll(/^([A-Z]+) +(\/api\/\S+) {2,}\w/gm)].map(([, method, path]) => ({ block, method, path }))
  )
  expect(lines.length).toBeGreaterThan(1)
  const known = ({ method, path }: (typeof lines)[number]) =>
    document.paths[path!.replaceAll(/:(\w+)/g, '{$1}')]?.[method!.toLowerCase()]
  expect(lines.filter((line) => !known(line)).map(({ block, path }) => `${at(block)} ${path}`)).toEqual([])
})

test('every body of a curl command is one that its route takes', () => {
  const uuid = '01900000-0000-7000-8000-000000000000'
  const sent = of('shell').flatMap((block) =>
    commandsOf(block).flatMap((command) => {
      const [, body] = /-d '([^']*)'/.exec(command) ?? []
      const [, path = ''] = /https?:\/\/[^/\s]+(\/[^\s']*)/.exec(command) ?? []
      const method = /-X (\w+)/.exec(command)?.[1] ?? 'POST'
      return body === undefined
        ? []
        : [{ at: at(block), method, path, body: JSON.parse(body.replace('TEAM_ID', uuid)) }]
    })
  )
  expect(sent.length).toBeGreaterThan(3)
  expect(
    sent.flatMap(({ at, method, path, body }) => faultsOf(method, path, body).map((fault) => [at, fault]))
  ).toEqual([])
})

describe('a JSON block', () => {
  test.each(of('json').map((block) => [at(block), block] as const))(
    '%s is JSON, one value or one a line',
    (_at, { text }) => {
      const values = isJson(text) ? [text] : text.trim().split('\n')
      for (const value of values) JSON.parse(value)
    }
  )

  test('has the fields of the body that its page says it is', () => {
    const found = of('json').map((block) => [block, responses[block.page]] as const)
    expect(found.filter(([, check]) => !check).map(([block]) => at(block))).toEqual([])
    for (const [block, check] of found) check!(block.text, faultsOf)
    const used = new Set(found.map(([block]) => block.page))
    expect(Object.keys(responses).filter((page) => !used.has(page))).toEqual([])
  })
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test.each(of('yaml').map((block) => [at(block), block] as const))('%s is YAML', (_at, { text }) => {
  expect(parse(text)).toEqual(expect.any(Object))
})

test('every Python block compiles', () => {
  const program = 'import sys, ast; [ast.parse(text) for text in sys.stdin.read().split("\\0")]'
  const input = of('python')
    .map(({ text }) => text)
    .join('\0')
  const { stderr } = spawnSync(join(projectRoot, '.venv/bin/python'), ['-c', program], { input, encoding: 'utf8' })
  expect(stderr).toBe('')
})
