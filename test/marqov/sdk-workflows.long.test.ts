// Runs the same programs with the public SDK (its own worker and workflow, on the same Temporal server) and as jobs of this
// service in both modes: the results are equal.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { type JobRecord, type Platform, startPlatform } from '../support/stack/platform.js'

const python = join(projectRoot, '.venv/bin/python')
const folder = join(projectRoot, 'test/marqov/programs')
const programs = readdirSync(folder).filter((name) => name.endsWith('.py'))
/** Programs that fail, with the text that the SDK's error and the job's must contain. */
const failing: Record<string, { sdk: RegExp; job: RegExp; attempts: number }> = {
  'failing/task_error.py': { sdk: /boom at 3/, job: /task 'divide'.*ValueError: boom at 3/s, attempts: 2 },
  'failing/task_timeout.py': { sdk: /timed out|timeout/i, job: /task 'sleepy'.*time limit of 1 s/s, attempts: 1 },
  'failing/proxy_as_bool.py': {
    sdk: /TypeError/,
    job: /line 13: .*the result of a task, which is not known/,
    attempts: 1
  },
  'failing/main_error.py': { sdk: /division by zero/, job: /task 'inverse'.*division by zero/s, attempts: 1 }
}
const all = [...programs, ...Object.keys(failing)]
/** The fields that a job adds to the values of its program. */
const ADDED = ['_workflow_metadata', 'backend', 'execution_time_ms', 'metadata', 'shots', 'stdout', 'warnings']
const PARAMS = { shots: 200 }
/** Each task of the SDK's worker is a new Python process, which can take seconds to import the SDK. */
const REFERENCE_MS = 600_000

interface Timed {
  node_id: string
  started_at: string
  completed_at: string
}

interface SdkResult {
  name: string
  value?: unknown
  raised?: string
}

const installed = spawnSync(python, ['-c', 'import marqov'], { encoding: 'utf8' }).status === 0

if (!installed)
  test('the SDK is missing only if Python is too old for it', () => {
    const probe = spawnSync(python, ['-c', 'import sys; print(sys.version_info >= (3, 12))'], { encoding: 'utf8' })
    expect(probe.stdout.trim()).toBe('False')
  })
else {
  const graphs = new Map<string, unknown>()
  let platform: Platform
  let reference: { child: ChildProcessWithoutNullStreams; home: string; results: Promise<Map<string, SdkResult>> }

  beforeAll(async () => {
    platform = await startPlatform('sdk-workflows')
    reference = startReference()
  }, 180_000)

  afterAll(async () => {
    reference?.child.kill('SIGKILL')
    if (reference) rmSync(reference.home, { recursive: true, force: true })
    await platform?.close()
  })

  describe.each(programs)('%s', (program) => {
    test.each(['direct', 'temporal'])(
      'has the same result as a job, %s, as with the SDK',
      async (execution_mode) => {
        const job = await run(program, execution_mode)
        expect(job).toMatchObject({ status: 'completed', error: null })
        const result = (await reference.results).get(program)
        expect(result?.raised).toBeUndefined()
        const { value } = result!
        const dictionary = typeof value === 'object' && value !== null && !Array.isArray(value)
        const expected: Record<string, unknown> = dictionary ? { ...value } : { result: value }
        const own = Object.entries(job.result!).filter(([key]) => !ADDED.includes(key) || key in expected)
        expect(Object.fromEntries(own)).toEqual(expected)
        graphs.set(`${program}, ${execution_mode}`, graphOf(job))
      },
      REFERENCE_MS + 60_000
    )
  })

  test.each(programs)('%s has the same graph in both modes', (program) => {
    expect(graphs.get(`${program}, temporal`)).toEqual(graphs.get(`${program}, direct`))
  })

  describe.each(Object.entries(failing))('%s', (program, { sdk, job: ofJob, attempts }) => {
    test(
      'fails with the SDK',
      async () => {
        expect((await reference.results).get(program)?.raised).toMatch(sdk)
      },
      REFERENCE_MS
    )

    test.each(['direct', 'temporal'])('fails as a job, %s, and names what failed', async (execution_mode) => {
      const job = await run(program, execution_mode)
      expect(job).toMatchObject({ status: 'failed', result: null, error: { code: 'execution_error' } })
      expect(job.error!.message).toMatch(ofJob)
      if (execution_mode === 'direct') return
      const { tasks } = (await (await platform.call('GET', `/api/jobs/${job.id}/tasks`)).json()) as {
        tasks: { name: string; state: string; attempts: number }[]
      }
      const failed = tasks.filter(({ state }) => state === 'failed')
      expect(failed.map((task) => task.attempts)).toEqual([attempts])
      expect(tasks.filter(({ name, state }) => name === 'never' && state !== 'skipped')).toEqual([])
    })
  })

  test('the SDK has run every program on its own worker', async () => {
    const results = await reference.results
    expect([...results.keys()].sort()).toEqual([...all].sort())
    expect(programs.map((name) => results.get(name)!.raised).filter((raised) => raised !== undefined)).toEqual([])
  })

  /** The graphs of a job without the times. */
  function graphOf({ result }: JobRecord) {
    const { task_timeline, ...rest } = (result!._workflow_metadata ?? {}) as { task_timeline?: Timed[] }
    const timeline = task_timeline?.map(({ started_at: _, completed_at: __, ...entry }) => entry)
    return { ...rest, timeline: timeline?.sort((one, other) => (one.node_id < other.node_id ? -1 : 1)) }
  }

  async function run(program: string, execution_mode: string): Promise<JobRecord> {
    const inline_code = readFileSync(join(folder, program), 'utf8')
    const source = { inline_code, framework: 'marqov', backend: 'local', params: PARAMS }
    return platform.ended(await platform.submit({ ...source, execution_mode }), 120_000)
  }
}

function startReference() {
  const home = mkdtempSync(join(tmpdir(), 'marqov-'))
  const child = spawn(python, [join(projectRoot, 'test/marqov/reference.py')], {
    cwd: home,
    env: { PATH: process.env.PATH!, HOME: home, TMPDIR: home, MARQOV_SCRUB_ALLOWLIST: 'PATH,HOME,TMPDIR' }
  })
  const results = new Promise<Map<string, SdkResult>>((resolve, reject) => {
    const found = new Map<string, SdkResult>()
    const complaints: string[] = []
    const late = setTimeout(() => child.kill('SIGKILL'), REFERENCE_MS)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as SdkResult
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
  // Reported to the tests that wait for it.
  results.catch(() => {})
  const paths = all.map((name) => [name, { path: join(folder, name), params: { ...PARAMS, backend: 'local' } }])
  child.stdin.end(JSON.stringify({ address: process.env.TEST_TEMPORAL_ADDRESS, programs: Object.fromEntries(paths) }))
  return { child, home, results }
}
