// The same programs of tasks with the public SDK itself (its own worker and workflow, on the same Temporal server) and as
// jobs of this service in both modes: the results are the same.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { type Platform, startPlatform } from '../support/platform.js'

const python = join(projectRoot, '.venv/bin/python')
const folder = join(projectRoot, 'test/marqov/programs')
const programs = readdirSync(folder).filter((name) => name.endsWith('.py'))
/** What a job adds to the values of its program. */
const ADDED = ['_workflow_metadata', 'backend', 'execution_time_ms', 'metadata', 'shots', 'stdout', 'warnings']
const PARAMS = { shots: 200 }
/** Each task of the SDK's worker is a new Python process, which takes seconds to import the SDK where it has to. */
const REFERENCE_MS = 240_000

interface Told {
  name: string
  value?: unknown
  raised?: string
}

const installed = spawnSync(python, ['-c', 'import marqov'], { encoding: 'utf8' }).status === 0

if (!installed)
  test('the SDK is missing only where Python is too old for it', () => {
    const probe = spawnSync(python, ['-c', 'import sys; print(sys.version_info >= (3, 12))'], { encoding: 'utf8' })
    expect(probe.stdout.trim()).toBe('False')
  })
else {
  let platform: Platform
  let reference: { child: ChildProcessWithoutNullStreams; home: string; told: Promise<Map<string, Told>> }

  beforeAll(async () => {
    platform = await startPlatform('sdk-workflows')
    reference = startReference()
  }, 60_000)

  afterAll(async () => {
    reference?.child.kill('SIGKILL')
    if (reference) rmSync(reference.home, { recursive: true, force: true })
    await platform?.close()
  })

  describe.each(programs)('%s', (program) => {
    test.each(['direct', 'temporal'])(
      'gives the same as a job, %s, as with the SDK',
      async (execution_mode) => {
        const id = await platform.submit({
          inline_code: readFileSync(join(folder, program), 'utf8'),
          framework: 'marqov',
          backend: 'local',
          params: PARAMS,
          execution_mode
        })
        const job = await platform.ended(id, 120_000)
        expect(job).toMatchObject({ status: 'completed', error: null })
        const told = (await reference.told).get(program)
        expect(told?.raised).toBeUndefined()
        const { value } = told!
        const dictionary = typeof value === 'object' && value !== null && !Array.isArray(value)
        const expected: Record<string, unknown> = dictionary ? { ...value } : { result: value }
        const own = Object.entries(job.result!).filter(([key]) => !ADDED.includes(key) || key in expected)
        expect(Object.fromEntries(own)).toEqual(expected)
      },
      REFERENCE_MS + 60_000
    )
  })

  test('the SDK has run every program on a worker of its own', async () => {
    const told = await reference.told
    expect([...told.keys()].sort()).toEqual([...programs].sort())
    expect([...told.values()].filter(({ raised }) => raised !== undefined)).toEqual([])
  })
}

function startReference() {
  const home = mkdtempSync(join(tmpdir(), 'marqov-'))
  const child = spawn(python, [join(projectRoot, 'test/marqov/reference.py')], {
    cwd: home,
    env: { PATH: process.env.PATH!, HOME: home, TMPDIR: home, MARQOV_SCRUB_ALLOWLIST: 'PATH,HOME,TMPDIR' }
  })
  const told = new Promise<Map<string, Told>>((resolve, reject) => {
    const found = new Map<string, Told>()
    const complaints: string[] = []
    const late = setTimeout(() => child.kill('SIGKILL'), REFERENCE_MS)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Told
      found.set(answer.name, answer)
    })
    child.stderr.on('data', (chunk) => complaints.push(String(chunk)))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(late)
      if (code === 0) resolve(found)
      else reject(new Error(`the SDK's worker was ended by ${signal ?? `code ${code}`}:\n${complaints.join('')}`))
    })
  })
  // Told to whoever waits for it.
  told.catch(() => {})
  const paths = programs.map((name) => [name, { path: join(folder, name), params: { ...PARAMS, backend: 'local' } }])
  child.stdin.end(JSON.stringify({ address: process.env.TEST_TEMPORAL_ADDRESS, programs: Object.fromEntries(paths) }))
  return { child, home, told }
}
