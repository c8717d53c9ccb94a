// The same programs of tasks with the public SDK itself (its own worker and workflow, on the same Temporal server) and as
// jobs of this service in both modes: the results are the same.
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
/** Programs that fail: what the SDK's error and the job's have to say. */
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
/** What a job adds to the values of its program. */
const ADDED = ['_workflow_metadata', 'backend', 'execution_time_ms', 'metadata', 'shots', 'stdout', 'warnings']
const PARAMS = { shots: 200 }
/** Each task of the SDK's worker is a new Python process, which takes seconds to import the SDK where it has to. */
const REFERENCE_MS = 240_000

interface Timed {
  node_id: string
  started_at: string
  completed_at: string
}

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
  const graphs = new Map<string, unknown>()
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
        const job = await run(program, execution_mode)
        expect(job).toMatchObject({ status: 'completed', error: null })
        const told = (await reference.told).get(program)
        expect(told?.raised).toBeUndefined()
        const { value } = told!
        const dictionary = typeof value === 'object' && value !== null && !Array.isArray(value)
        const expected: Record<string, unknown> = dictionary ? { ...value } : { result: value }
        const own = Object.entries(job.result!).filter(([key]) => !ADDED.includes(key) || key in expected)
        expect(Object.fromEntries(own)).toEqual(expected)
        graphs.set(`${program}, ${execution_mode}`, graphOf(job))
      },
      REFERENCE_MS + 60_000
    )
  })

  test.each(programs)('%s is told as the same graph in both modes', (program) => {
    expect(graphs.get(`${program}, temporal`)).toEqual(graphs.get(`${program}, direct`))
  })

  describe.each(Object.entries(failing))('%s', (program, { sdk, job: ofJob, attempts }) => {
    test(
      'fails with the SDK',
      async () => {
        expect((await reference.told).get(program)?.raised).toMatch(sdk)
      },
      REFERENCE_MS
    )

    test.each(['direct', 'temporal'])('fails as a job, %s, and says what failed', async (execution_mode) => {
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

  test('the SDK has run every program on a worker of its own', async () => {
    const told = await reference.told
    expect([...told.keys()].sort()).toEqual([...all].sort())
    expect(programs.map((name) => told.get(name)!.raised).filter((raised) => raised !== undefined)).toEqual([])
  })

  /** What a job says of its graphs, but for the times. */
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
  const paths = all.map((name) => [name, { path: join(folder, name), params: { ...PARAMS, backend: 'local' } }])
  child.stdin.end(JSON.stringify({ address: process.env.TEST_TEMPORAL_ADDRESS, programs: Object.fromEntries(paths) }))
  return { child, home, told }
}
