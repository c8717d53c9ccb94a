// Messages are read in the terminal, in the console and by programs: they name what to do, or a command, but no route.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { projectRoot } from '../../../apps/cli/stack/project.js'

const folders = ['activities', 'apps', 'capsule-format', 'db', 'domain', 'services', 'workflows']

/** Texts for readers who have the routes before them, by file and by words of theirs. */
const exceptions: readonly [file: string, words: string, reason: string][] = [
  ['domain/error-guide.ts', '', 'docs/errors.md and the OpenAPI document, for programmers and operators'],
  ['services/telemetry/state-metrics.ts', 'Findings of a sweep', 'the help of a metric, for operators'],
  [
    'apps/api/http/errors.ts',
    'error_description=',
    'the header WWW-Authenticate, for programs; qjob has words of its own'
  ],
  ['apps/api/accounts/passwords.ts', 'made by single sign-on', 'a description in the OpenAPI document'],
  ['apps/api/capsules/schedule-preview.ts', 'With which words', 'a description in the OpenAPI document'],
  ['apps/api/jobs/jobs.ts', 'Leaves out the result', 'a description in the OpenAPI document'],
  ['apps/api/service/providers.ts', 'As in', 'a description in the OpenAPI document']
]

const route = /\b(?:GET|POST|PUT|PATCH|DELETE) \/[a-z]/
/** Such as the key of a table. */
const routeAlone = /'[A-Z]+ \/\S*'/g

/** The lines that have a route among other words, outside of comments and descriptions of schemas. */
function linesWithRoute(file: string): string[] {
  const lines = readFileSync(join(projectRoot, file), 'utf8')
    .replace(/^\s*\/\*[\s\S]*?\*\/|"""[\s\S]*?"""/gm, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !/^(?:\/\/|#)/.test(line))
  return lines.filter(
    (line, at) =>
      route.test(line.replace(routeAlone, '')) &&
      !/\b(?:description|summary):/.test(line) &&
      !/\b(?:description|summary):$/.test(lines[at - 1] ?? '')
  )
}

test('no message names a route', () => {
  const used = new Set<string>()
  const found = folders
    .flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)
    )
    .filter((file) => /\.(ts|tsx|py)$/.test(file) && !/(?:^|\/)(?:tests|node_modules|\.\w+)\//.test(file))
    .filter((file) => file !== 'apps/console/api/schema.ts')
    .flatMap((file) => linesWithRoute(file).map((line) => [file, line] as const))
    .filter(([file, line]) => {
      const reason = exceptions.find(([of, some]) => of === file && line.includes(some))
      if (reason) used.add(reason.join(' '))
      return !reason
    })
  expect(found).toEqual([])
  expect([...used].sort()).toEqual(exceptions.map((one) => one.join(' ')).sort())
})
