// docs/console/routes.md against the access table of the API and the pages of the console.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { accessTable } from '../../../apps/api/http/access-table.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'

const read = (name: string): string => readFileSync(join(projectRoot, name), 'utf8')
const rows = [...read('docs/console/routes.md').matchAll(/^\| `([A-Z]+ [^`]+)` \| (.+) \|$/gm)].map(
  ([, route, cell]) => ({ route: route!, cell: cell! })
)

/** A part of an address that stands for any: `$id` in the router, `ID` in documents. */
const shape = (path: string): string => path.replace(/\/(\$\w+|[A-Z]+)(?=\/|$)/g, '/*').replace(/(.)\/$/, '$1')

/** Pages below these name the rest of their address. */
const layouts = ['admin', 'team']
const files = readdirSync(join(projectRoot, 'apps/console'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  /(router|routes?)\.tsx?$/.test(name)
)
const addressOf = (file: string, path: string): string => {
  const folder = file.split('/')[0]!
  return layouts.includes(folder) && !path.startsWith(`/${folder}`) ? `/${folder}${path}` : path
}
const pages = new Set(
  files.flatMap((file) =>
    [...read(`apps/console/${file}`).matchAll(/'(\/[^']*)'/g)].map(([, path]) => shape(addressOf(file, path!)))
  )
)

test('every route of the API stands once in docs/console/routes.md, and no other', () => {
  expect(rows.map(({ route }) => route).toSorted()).toEqual(Object.keys(accessTable).toSorted())
})

test('a route without a page in docs/console/routes.md has its reason, and every other one names pages of the console', () => {
  const wrong = rows.filter(({ cell }) => {
    if (cell.startsWith('no page: ')) return cell.length < 'no page: '.length + 10
    const named = cell.split(', ').map((one) => /^`(\/[^`]*)`$/.exec(one)?.[1])
    return !named.every((page) => page !== undefined && pages.has(shape(page)))
  })
  expect(wrong).toEqual([])
})

test('every page of administration is named by a route', () => {
  const named = new Set(rows.flatMap(({ cell }) => [...cell.matchAll(/`(\/[^`]*)`/g)].map(([, page]) => shape(page!))))
  const unnamed = [...pages].filter((page) => page.startsWith('/admin/') && !named.has(page))
  expect(unnamed).toEqual([])
})

const sources = readdirSync(join(projectRoot, 'apps/console'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && name !== 'api/schema.ts')
  .map((name) => read(`apps/console/${name}`))

/** A path with `*` for each parameter, however it is written. */
const bare = (path: string): string =>
  path
    .replace(/\?.*$/s, '')
    .replace(/\$\{[^{}]*\}|\{\w+\}|:\w+/g, '*')
    .replace(/\/$/, '')

/** What the functions `pathOf` of the sources write. */
const bases = sources.flatMap((text) => /pathOf = .*`(\/api\/[^`]*)`/.exec(text)?.[1] ?? [])

/** `GET /api/jobs/*` of calls by the client, and `/api/jobs/*` of links, streams and files. */
const calls = new Set(
  sources.flatMap((text) => [
    ...[...text.matchAll(/\bapi\.([A-Z]+)\(\s*'(\/[^']*)'/g)].map(([, method, path]) => `${method} ${bare(path!)}`),
    ...[...text.matchAll(/(?<!\bapi\.[A-Z]+\(\s*)['"`](\/api\/[^'"`\s]*)/g)].map(([, path]) => bare(path!)),
    ...[...text.matchAll(/`\$\{pathOf\(\w+\)\}(\/[^`\s]*)/g)].flatMap(([, rest]) =>
      bases.map((base) => bare(`${base}${rest}`))
    )
  ])
)

/** Where a page takes the address from: the list of artifacts has that of each, and a file is one of its folder. */
const otherwise: Readonly<Record<string, string>> = {
  'GET /api/jobs/:id/artifacts/:name': 'GET /api/jobs/*/artifacts',
  'GET /api/capsules/public/:slug/files/:name': '/api/capsules/public/*/files'
}

test('a route that names a page is requested by the sources of the console', () => {
  const unused = rows.filter(({ route, cell }) => {
    const [method, path] = route.split(' ')
    const ways = [`${method} ${bare(path!)}`, bare(path!), otherwise[route] ?? '']
    return !cell.startsWith('no page: ') && !ways.some((way) => calls.has(way))
  })
  expect(unused).toEqual([])
})
