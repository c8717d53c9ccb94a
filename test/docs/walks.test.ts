// The commands and programs of README and docs/, run in the order of their page as a reader types them, against `npm start`.
// The reader has the programs that a page takes for granted, an account, and the files that it names.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readStackFile } from '../../apps/cli/stack/data-dir.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { rowsOfLane } from '../support/lane.js'
import { installedPythonPackage } from '../support/python-package.js'
import { QjobStart } from '../support/stack/qjob-start.js'
import { at, type Block, blocks, commandsOf } from './blocks.js'
import { exceptionOf } from './exceptions.js'
import { preludes } from './preludes.js'
import { Walk } from './walk.js'

const dataDir = mkdtempSync(join(tmpdir(), 'qjs-docs-'))
let stack: QjobStart
let url = ''
let pythonPath = ''

beforeAll(async () => {
  pythonPath = installedPythonPackage()
  const start = [process.execPath, join(projectRoot, 'tools/qjob.mjs'), 'start', '--emulated-hardware']
  stack = new QjobStart(dataDir, {}, start)
  await stack.ready()
  url = readStackFile(dataDir)!.url!
}, 150_000)

afterAll(async () => {
  stack.signal('SIGINT')
  await stack.exited
  await stack.end()
  const pointer = join(dataDir, 'postgres-location')
  if (existsSync(pointer)) rmSync(readFileSync(pointer, 'utf8').trim(), { recursive: true })
  rmSync(dataDir, { recursive: true })
  rmSync(dirname(pythonPath), { recursive: true })
}, 60_000)

const executable = (block: Block): boolean => ['shell', 'python', 'yaml', 'js', 'ts'].includes(block.kind!)
const pages = [...new Set(blocks.filter(executable).map(({ page }) => page))]

/** A page whose programs are a part of this service, not of its clients. */
const programs = ['docs/workflows.md']

/** What a command must print, besides exiting with 0. */
const prints: [page: string, command: RegExp, output: RegExp][] = [
  ['README.md', /submit examples\/bell/, /00[^\n]*\n[^\n]*11/],
  ['README.md', /submit examples\/rotation/, /theta=1\.57 .*ZZ = 1/],
  ['docs/sweeps.md', /submit examples\/bell/, /theta=0\.5|^ +1 .*0/m],
  ['README.md', /capsule run/, /^verdict +exact\b/m],
  ['docs/capsules/capsules.md', /capsule run ID --wait/, /^verdict +exact\b/m],
  ['docs/capsules/audit.md', /audit verify/, /unchanged/]
]

async function walkOf(page: string): Promise<void> {
  const walk = new Walk({ url, dataDir }, `${page.replaceAll(/\W/g, '-').toLowerCase()}@example.org`, pythonPath)
  const { signUp = true, files = {}, before = [], python = '', js = '', ts = '' } = preludes[page] ?? {}
  try {
    if (page === 'docs/clients/generated-clients.md') walk.useGenerator()
    if (signUp) await walk.signUp()
    for (const [name, text] of Object.entries(files)) walk.write(name, text)
    for (const command of before) await walk.must(command)
    for (const block of blocks.filter((block) => block.page === page && executable(block))) {
      const { kind, text } = block
      const where = (stdout: string) => `${at(block)}\n${stdout}`
      if (kind === 'shell') {
        for (const command of commandsOf(block)) {
          if (exceptionOf(page, command)) continue
          const { code, stdout, stderr } = await walk.run(command)
          expect([where(command), code, code === 0 || `${stdout}${stderr}`]).toEqual([where(command), 0, true])
          for (const [, pattern, output] of prints.filter(([on, pattern]) => on === page && pattern.test(command)))
            expect([where(String(pattern)), stdout]).toEqual([where(String(pattern)), expect.stringMatching(output)])
        }
      } else if (kind === 'yaml') walk.write('bell.yaml', text)
      else if (kind === 'js') {
        walk.write('program.mjs', `${js}\n${text}`)
        await walk.must(`node program.mjs`)
      } else if (kind === 'ts') {
        walk.write('program.ts', `${ts}\n${text}`)
        await walk.must(`node_modules/.bin/tsc --ignoreConfig --strict --noEmit --module nodenext program.ts`)
      } else if (programs.includes(page)) {
        walk.write('program.py', text)
        await walk.must('qjob run program.py --mode temporal')
      } else {
        walk.write('client.py', await walk.filled(`${python}\n${text}`))
        await walk.must('python client.py')
      }
    }
  } finally {
    walk.end()
  }
}

test.each(rowsOfLane(pages, (page) => page === 'README.md'))(
  'every command and program of %s does what the page says',
  (page) => walkOf(page),
  600_000
)

test('nothing is prepared or expected for a page without commands', () => {
  const known = [...Object.keys(preludes), ...prints.map(([page]) => page), ...programs]
  expect(known.filter((page) => !pages.includes(page))).toEqual([])
  for (const [page, pattern] of prints)
    expect([page, blocks.some((block) => block.page === page && pattern.test(block.text))]).toEqual([page, true])
})
