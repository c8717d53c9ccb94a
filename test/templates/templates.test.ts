// Every template of the platform, submitted as a user would, in both modes: what theory says, within what chance allows.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { longTest, rowsOfLane } from '../support/lane.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'
import { decayError, expectNear, expectShare, H2, h2Energy, ringQaoa } from './expected.js'

const folder = join(projectRoot, 'db/seed/templates')
const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
  slug: string
  framework: string
}[]
const slugs = manifest.map(({ slug }) => slug)

/** The package in which workflows are written needs Python 3.12; the service itself does with 3.11. */
const probe = 'import importlib.util as u, sys; print(u.find_spec("marqov") is not None, sys.version_info >= (3, 12))'
const python = spawnSync(join(projectRoot, '.venv/bin/python'), ['-c', probe], { encoding: 'utf8' })
const [hasSdk, mayHaveSdk] = python.stdout
  .trim()
  .split(' ')
  .map((word) => word === 'True')
const runnable = manifest.filter(({ framework }) => hasSdk || framework !== 'marqov').map(({ slug }) => slug)
/** Each template also has a test of its own below: here one circuit and one workflow stand for all. */
const isRepresentative = (slug: string): boolean => ['bell-state', 'bell-workflow'].includes(slug)
const isFirst = (_row: unknown, at: number): boolean => at === 0
const withTasks: [string, number][] = [
  ['bell-workflow', 1],
  ['vqe-workflow', 3],
  ['parameter-scan', 10]
]

type Counts = Record<string, number>
const MODES = ['direct', 'temporal'] as const
let platform: Platform

beforeAll(async () => {
  platform = await startPlatform('templates')
}, 180_000)

afterAll(() => platform?.close())

/** The result of a template, each in both modes. */
async function results(slug: string, backend: string, params: Record<string, unknown>) {
  const ids = await Promise.all(
    MODES.map((execution_mode) => platform.submit({ script_slug: slug, backend, params, execution_mode }))
  )
  const jobs = await Promise.all(ids.map((id) => platform.ended(id, 90_000)))
  return jobs.map((job) => {
    expect(job).toMatchObject({ status: 'completed', error: null })
    const summary = job.result!._summary as Record<string, string>
    expect(Object.keys(summary).length).toBeGreaterThan(0)
    for (const text of Object.values(summary)) expect(text).toMatch(/\S/)
    return { id: job.id, ...job.result! } as { id: string; counts: Counts; [key: string]: unknown }
  })
}

const total = (counts: Counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

describe('the templates', () => {
  test('that the manifest lists are the files that are there, short enough to be read', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.py'))
    expect(files.map((name) => name.replace(/\.py$/, '')).sort()).toEqual([...slugs].sort())
    for (const name of files)
      expect([name, readFileSync(join(folder, name), 'utf8').split('\n').length <= 81]).toEqual([name, true])
  })

  test('are all explained', () => {
    const text = readFileSync(join(projectRoot, 'docs/templates.md'), 'utf8')
    expect(slugs.filter((slug) => !text.includes(`\n## ${slug}\n`))).toEqual([])
  })

  test('of workflows run wherever Python is new enough for them', () => {
    expect(python.stderr).toBe('')
    expect(hasSdk).toBe(mayHaveSdk)
  })

  test.each(rowsOfLane(runnable, isRepresentative))(
    '%s runs with nothing but shots',
    async (slug) => {
      const found = await results(slug, 'local', { shots: 200 })
      expect(found).toHaveLength(2)
    },
    240_000
  )

  test.each(rowsOfLane(runnable, isRepresentative))(
    '%s takes a seed, and the same seed gives the same result',
    async (slug) => {
      const told = async () => {
        const [direct] = await results(slug, 'marqov-sim', { shots: 100, seed: 11 })
        const { id: _, execution_time_ms: __, _workflow_metadata: ___, ...rest } = direct!
        return rest
      }
      expect(await told()).toEqual(await told())
    },
    240_000
  )
})

test('bell-state: both qubits agree, and each value comes half of the time', async () => {
  for (const { counts, agreement } of await results('bell-state', 'aer-statevector', { shots: 10_000 })) {
    expect(Object.keys(counts).sort()).toEqual(['00', '11'])
    expectShare(counts['00']!, 10_000, 0.5)
    expect(agreement).toBe(1)
  }
}, 180_000)

longTest(
  'bell-state: a depolarizing CX makes the qubits disagree in half of the cases in which it fails',
  async () => {
    const params = { shots: 20_000, noise_model: { gate_errors: { cx: 0.1 } } }
    for (const { counts } of await results('bell-state', 'aer-noisy', params))
      expectShare(counts['00']! + counts['11']!, 20_000, 0.95)
  },
  180_000
)

test('ghz-state: of fifty qubits all agree', async () => {
  for (const { counts } of await results('ghz-state', 'aer-mps', { shots: 2_000, num_qubits: 50 })) {
    expect(Object.keys(counts).sort()).toEqual(['0'.repeat(50), '1'.repeat(50)])
    expectShare(counts['0'.repeat(50)]!, 2_000, 0.5)
  }
}, 180_000)

describe.each(runnable.filter((slug) => slug.startsWith('vqe-')))('%s', (slug) => {
  test.each(
    rowsOfLane<[string, number | undefined, number]>(
      [
        ['the ground energy at the best angle', undefined, H2.ground],
        ["Hartree-Fock's energy at 0", 0, H2.hartreeFock],
        ['the energy that the Hamiltonian has at any other', 1.2, h2Energy(1.2, 1).energy]
      ],
      isFirst
    )
  )(
    '%s',
    async (_what, theta, truth) => {
      const shots = 100_000
      const { energy, standardError } = h2Energy(theta ?? H2.best, shots)
      expect(energy).toBeCloseTo(truth, 7)
      for (const result of await results(slug, 'aer-statevector', { shots, ...(theta !== undefined && { theta }) })) {
        expectNear(result.energy as number, truth, standardError)
        expect(result.theta).toBe(theta ?? H2.best)
        const terms = result.terms as Record<string, { coefficient: number; expectation: number }>
        expect(Object.keys(terms).sort()).toEqual(['II', 'IZ', 'XX', 'ZI', 'ZZ'])
        const electronic = Object.values(terms).reduce((sum, term) => sum + term.coefficient * term.expectation, 0)
        expect(electronic + (result.nuclear_repulsion as number)).toBeCloseTo(result.energy as number, 10)
        if (slug === 'vqe-h2')
          expect(Math.abs((result.standard_error as number) / standardError - 1)).toBeLessThan(0.05)
      }
    },
    180_000
  )
})

test('the best angle of vqe-h2 is the best there is, and its energy the lowest of the Hamiltonian', () => {
  const energies = Array.from({ length: 6284 }, (_, step) => h2Energy(step / 1000 - Math.PI, 1).energy)
  expect(Math.min(...energies)).toBeGreaterThanOrEqual(h2Energy(H2.best, 1).energy - 1e-9)
  expect(h2Energy(H2.best, 1).energy).toBeCloseTo(H2.ground, 9)
})

describe('qaoa-maxcut', () => {
  test.each(
    rowsOfLane(
      [
        [8, 1],
        [5, 3],
        [2, 1],
        [3, 2],
        [10, 10]
      ],
      isFirst
    )
  )(
    'on a ring of %i with %i layers cuts what the state says, and more than chance',
    async (graph_size, layers) => {
      const shots = 5_000
      const known = ringQaoa(graph_size, layers)
      const edges = graph_size > 2 ? graph_size : 1
      expect(known.largest).toBe(graph_size === 2 ? 1 : graph_size - (graph_size % 2))
      expect(known.mean).toBeGreaterThan(edges / 2 + (5 * known.deviation) / Math.sqrt(shots))
      if (layers === 1 && graph_size >= 4) expect(known.mean).toBeCloseTo(0.75 * edges, 10)
      for (const result of await results('qaoa-maxcut', 'local', { shots, graph_size, layers })) {
        expect(result.max_cut).toBe(known.largest)
        expect(result.best_cut).toBeLessThanOrEqual(known.largest)
        expect(total(result.counts)).toBe(shots)
        expectNear(result.expected_cut as number, known.mean, known.deviation / Math.sqrt(shots))
      }
    },
    180_000
  )
})

test.each(rowsOfLane(['101', '10', '0110', '11111'], isFirst))(
  'grover-search finds %s as often as theory says',
  async (marked) => {
    const angle = Math.asin(2 ** (-marked.length / 2))
    for (const result of await results('grover-search', 'aer-statevector', { shots: 10_000, marked })) {
      const theory = Math.sin((2 * (result.iterations as number) + 1) * angle) ** 2
      expect(theory).toBeGreaterThan(0.9)
      expect(result.theoretical_probability).toBeCloseTo(theory, 12)
      if (theory > 1 - 1e-9) expect(result.counts).toEqual({ [marked]: 10_000 })
      else expectShare(result.counts[marked]!, 10_000, theory)
      const [first] = Object.entries(result.counts).sort(([, one], [, other]) => other - one)
      expect(first![0]).toBe(marked)
    }
  },
  180_000
)

describe('quantum-teleportation', () => {
  test.each(
    rowsOfLane<[boolean, string]>(
      [
        [true, 'aer-statevector'],
        [false, 'aer-statevector'],
        [false, 'aer-density-matrix'],
        [false, 'aer-mps']
      ],
      isFirst
    )
  )(
    'loses nothing, with deferred measurements %s, on %s',
    async (deferred, backend) => {
      const params = { shots: 4_000, theta: 2.1, phi: -0.7, deferred }
      for (const { fidelity, messages } of await results('quantum-teleportation', backend, params)) {
        expect(fidelity).toBe(1)
        for (const bits of ['00', '01', '10', '11']) expectShare((messages as Counts)[bits]!, 4_000, 0.25)
      }
    },
    180_000
  )

  // A CX that fails leaves its two qubits in no state at all: what arrives is then right half of the time.
  longTest(
    'has the fidelity that the errors of its two CX gates leave',
    async () => {
      const p = 0.1
      const params = { shots: 20_000, noise_model: { gate_errors: { cx: p } } }
      for (const { fidelity } of await results('quantum-teleportation', 'aer-noisy', params))
        expectShare(Math.round((fidelity as number) * 20_000), 20_000, 0.5 + (1 - p) ** 2 / 2)
    },
    180_000
  )
})

describe('randomized-benchmarking', () => {
  /** Three sequences of each length, each run twice. */
  const LENGTHS = [1, 8, 16, 32, 64].flatMap((length) => Array<number>(6).fill(length))
  const uneven = { all: { p0_given1: 0.1, p1_given0: 0.02 } }

  test.each(
    rowsOfLane<[string, number, typeof uneven | undefined, number]>(
      [
        ['an error beside an uneven readout, which it leaves out', 0.02, uneven, 1 - 0.1 - 0.02],
        ['an error of each gate', 0.02, undefined, 1],
        ['an error ten times smaller', 0.002, undefined, 1]
      ],
      isFirst
    )
  )(
    'finds %s',
    async (_what, p, readout_errors, contrast) => {
      const shots = 2_000
      const noise_model = { gate_errors: { all_1q: p }, ...(readout_errors && { readout_errors }) }
      // One more gate than m undoes the sequence.
      const standardError = decayError(1 - p, (contrast / 2) * (1 - p), LENGTHS, shots)
      for (const result of await results('randomized-benchmarking', 'aer-noisy', { shots, noise_model })) {
        expectNear(result.alpha as number, 1 - p, standardError)
        expect(result.error_per_clifford).toBeCloseTo((1 - (result.alpha as number)) / 2, 12)
      }
    },
    180_000
  )

  longTest(
    'finds none where there is none',
    async () => {
      for (const { alpha } of await results('randomized-benchmarking', 'local', { shots: 1_000 }))
        expect(alpha).toBeCloseTo(1, 5)
    },
    180_000
  )
})

describe('what is wrong is said', () => {
  test.each([
    ['ghz-state', 'local', { num_qubits: 1 }, 'num_qubits must be from 2 to 100 (got 1)'],
    ['ghz-state', 'local', { num_qubits: 26 }, '26'],
    ['grover-search', 'local', { marked: '1a1' }, "marked must be 2 to 8 characters, each 0 or 1 (got '1a1')"],
    ['randomized-benchmarking', 'local', { lengths: [4, 4, 8] }, 'lengths: at least three different ones'],
    ['vqe-h2', 'local', { angle: 1 }, "main() does not accept 'angle'"]
  ])('%s on %s with %j', async (slug, backend, params, words) => {
    for (const execution_mode of MODES) {
      const id = await platform.submit({
        script_slug: slug,
        backend,
        params: { shots: 10, ...params },
        execution_mode
      })
      const job = await platform.ended(id)
      expect(job).toMatchObject({ status: 'failed', attempts: 1 })
      expect(job.error!.message).toContain(words)
    }
  })
})

if (hasSdk) {
  longTest(
    'parameter-scan follows the sine of the angle',
    async () => {
      for (const result of await results('parameter-scan', 'local', { shots: 4_000, angles: 7 })) {
        const thetas = result.theta as number[]
        expect(thetas).toHaveLength(7)
        for (const [at, theta] of thetas.entries()) {
          const seen = Math.round((result.probability as number[])[at]! * 4_000)
          expectShare(seen, 4_000, Math.sin(theta / 2) ** 2)
        }
      }
    },
    180_000
  )

  test('bell-workflow gives its task the noise of the job', async () => {
    const params = { shots: 20_000, noise_model: { gate_errors: { cx: 0.1 } } }
    for (const { counts } of await results('bell-workflow', 'aer-noisy', params))
      expectShare(counts['00']! + counts['11']!, 20_000, 0.95)
  }, 180_000)

  longTest(
    'tasks that run the same circuit do not share their chance',
    async () => {
      const inline_code = `from marqov import Circuit, get_device, task, workflow

@task
def ones(backend):
    return get_device({"backend": backend}).run(Circuit().h(0), 10_000).get("1", 0)

@workflow
def flips(backend="local"):
    return [ones(backend) for _ in range(5)]
`
      for (const execution_mode of MODES) {
        const id = await platform.submit({ inline_code, backend: 'local', params: { shots: 1 }, execution_mode })
        const job = await platform.ended(id)
        expect(job).toMatchObject({ status: 'completed' })
        const seen = job.result!.result as number[]
        for (const count of seen) expectShare(count, 10_000, 0.5)
        // All alike once in 10^9.
        expect(new Set(seen).size).toBeGreaterThan(1)
      }
    },
    180_000
  )

  test.each(rowsOfLane(withTasks, isFirst))(
    '%s is %i tasks of its own in the durable mode',
    async (slug, count) => {
      const [, durable] = await results(slug, 'local', { shots: 100 })
      const { tasks } = (await (await platform.call('GET', `/api/jobs/${durable!.id}/tasks`)).json()) as {
        tasks: { state: string; attempts: number }[]
      }
      expect(tasks.map(({ state, attempts }) => [state, attempts])).toEqual(Array(count).fill(['completed', 1]))
      expect(durable!._workflow_metadata).toMatchObject({ total_tasks: count })
    },
    240_000
  )
}
