// The programs in examples/ and in docs/workflows.md, run unchanged: each gives its known result, in both modes.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { longTest, rowsOfLane } from '../support/lane.js'
import { type Shell, startService } from './qjob.js'
import { signedUp } from './signed-up.js'

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell

beforeAll(async () => {
  service = await startService('examples', { RATE_LIMIT_SCALE: '0' })
  ada = await signedUp(service, 'ada@example.org')
}, 120_000)

afterAll(async () => {
  ada?.remove()
  await service?.close()
})

type Result = Record<string, unknown>
const outcomes = ({ counts }: Result) => Object.keys(counts as object).sort()

/** Sampled values are certain, or within six standard deviations: they miss with a chance of 2 in 10^9. */
const knownResults: Record<string, (result: Result) => void> = {
  'bell.qasm': (result) => expect(outcomes(result)).toEqual(['00', '11']),
  'ghz.py': (result) => expect(outcomes(result)).toEqual(['000', '111']),
  'fan-out.py': (result) => expect(result).toMatchObject({ agreement: { 2: 1, 3: 1, 4: 1, 5: 1 }, lowest: 1 }),
  'rotation.qasm': (result) => expect(outcomes(result)).toEqual(['11']),
  // The angles of the first round include pi, where -1 is certain.
  'search.py': (result) => {
    expect(result).toMatchObject({ theta: Math.PI, energy: -1 })
    expect(result.history).toHaveLength(3)
  }
}

const shown: ((result: Result) => void)[] = [
  ({ p1 }) => expect(Math.abs((p1 as number) - Math.sin(0.25) ** 2)).toBeLessThan(6 * Math.sqrt(0.0576 / 1000)),
  (result) => expect(result).toMatchObject({ agreement: { 2: 1, 3: 1, 4: 1 }, lowest: 1 }),
  (result) => expect(result).toMatchObject({ theta: Math.PI, energy: -1 })
]

const page = readFileSync(join(projectRoot, 'docs/workflows.md'), 'utf8')
const blocks = [...page.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code]) => code!)
const modes = ['direct', 'temporal']
/** In the short lane each program runs in one of the modes. */
const pairs = <T>(things: T[]): [T, string][] =>
  rowsOfLane(
    things.flatMap((thing) => modes.map((mode): [T, string] => [thing, mode])),
    (_, index) => index % 4 === 0 || index % 4 === 3
  )

/** What a program needs. */
const options: Record<string, string[]> = { 'rotation.qasm': ['--param', `theta=${Math.PI}`] }

async function resultOf(file: string, mode: string): Promise<Result> {
  const more = options[basename(file)] ?? []
  const { code, stdout, stderr } = await ada.run(['run', file, '--mode', mode, '--shots', '1000', '--json', ...more])
  expect([stderr, code]).toEqual([expect.stringContaining(' completed after '), 0])
  return JSON.parse(stdout)
}

/** For a machine of neutral atoms, which no engine simulates. */
const ANALOG = 'analog.json'

test('every example and every program of the page has a known result', () => {
  expect([...Object.keys(knownResults), ANALOG].sort()).toEqual(readdirSync(join(projectRoot, 'examples')).sort())
  expect(blocks).toHaveLength(shown.length)
})

test.each(pairs(Object.keys(knownResults)))(
  'examples/%s gives its known result in mode %s',
  async (name, mode) => {
    knownResults[name]!(await resultOf(join(projectRoot, 'examples', name), mode))
  },
  90_000
)

test.each(pairs(blocks.map((_, n) => n)))(
  'program %d of the page gives its known result in mode %s',
  async (n, mode) => {
    shown[n]!(await resultOf(ada.file(`program-${n}.py`, blocks[n]!), mode))
  },
  90_000
)

test('the analog example is sent as one, which a simulator refuses by name', async () => {
  const { code, stderr } = await ada.run(['submit', join(projectRoot, 'examples', ANALOG), '--backend', 'local'])
  expect(code).not.toBe(0)
  expect(stderr).toContain('backend: local runs circuits, not analog programs (circuit.format ahs)')
})

test('a workflow shows its tasks on the timeline, and each task on request', async () => {
  const args = ['run', join(projectRoot, 'examples/fan-out.py'), '--mode', 'temporal', '--param', 'largest=4']
  const { stderr } = await ada.run(args)
  const id = /qjob job (\S+)/.exec(stderr)![1]!
  const { stdout } = await ada.run(['job', id])
  expect(stdout).toMatch(/^GHZ states {2}2 to 4 qubits agree in at least 100\.0% of the shots$/m)
  expect(stdout).toMatch(/^4 tasks: 4 completed; [\d.]+s in all$/m)
  expect(stdout).toMatch(/^1 +agreement +completed +[\d.]+s +[\d.]+s +█/m)
  expect(stdout).toMatch(/^4 +gather +completed +[\d.]+s +[\d.]+s +1-3 +█+$/m)
  const only = await ada.run(['job', id, '--tasks'])
  expect(only.stdout.split('\n')[0]).toMatch(/^4 tasks: 4 completed/)
  const { tasks } = JSON.parse((await ada.run(['job', id, '--tasks', '--json'])).stdout)
  expect(tasks).toHaveLength(4)
  expect((await ada.run(['job', id, '--attempts'])).stdout).toMatch(/^task_0001 +1 +completed /m)
}, 90_000)

const failing = `import time
from marqov import task, workflow

@task(retries=1)
def unlucky():
    raise ValueError("no luck")

@task
def slow():
    time.sleep(60)

@task
def last(value):
    return value

@workflow
def doomed():
    return [unlucky(), last(slow())]
`

longTest(
  'a task that fails permanently stops the tasks running next to it, and the timeline shows all of them',
  async () => {
    const { code, stdout, stderr } = await ada.run(['run', '-', '--mode', 'temporal', '--json'], failing)
    expect(code).toBe(1)
    expect(stderr).toMatch(/ is failed: execution_error: task 'unlucky' \(task_0001\): line 6: ValueError: no luck\n$/)
    const id = JSON.parse(stdout).error.job_id
    const { tasks } = JSON.parse((await ada.run(['job', id, '--tasks', '--json'])).stdout)
    const states = Object.fromEntries(tasks.map(({ name, state }: { name: string; state: string }) => [name, state]))
    expect(states).toEqual({ unlucky: 'failed', slow: 'cancelled', last: 'skipped' })
    const shown = (await ada.run(['job', id])).stdout
    expect(shown).toMatch(/^3 tasks: 1 failed, 1 cancelled, 1 skipped; /m)
    expect(shown).toMatch(/^\d +unlucky +failed +2 +[\d.]+s +[\d.]+s +▒+·+▒/m)
    expect(shown).toMatch(/^ +execution_error: task 'unlucky' .*: ValueError: no luck$/m)
  },
  90_000
)
