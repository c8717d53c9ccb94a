// Jobs per second of two executors against one, for jobs that wait rather than compute: so the slots count, and not the
// processors, which all parts share here. The two sides take turns.
import { type Executor, startExecutor } from '../apps/cli/stack/parts/executor.js'
import { submitMany } from './submit.js'
import { type BenchPlatform, type BenchStack, EXECUTOR_TOKEN } from './support/bench-stack.js'
import { median, printTable, spread } from './support/table.js'
import { untilCompleted } from './throughput/backlog.js'

const SLOTS = 2
const WAIT_SECONDS = 1
const JOBS = 40
const WARM_UP_JOBS = 8
const ROUNDS = 3
const modes = ['direct', 'temporal'] as const

const code = `import time
from qiskit import QuantumCircuit
time.sleep(${WAIT_SECONDS})
circuit = QuantumCircuit(1)
circuit.x(0)
`

interface Side {
  platform: BenchPlatform
  submitted: number
}

export async function benchExecutorPool(stack: BenchStack): Promise<void> {
  const executors: Executor[] = []
  for (const name of ['pool1', 'pool2'])
    executors.push(await startExecutor({ token: EXECUTOR_TOKEN, slots: String(SLOTS), name }, stack.spawn))
  const sides = [await startSide(stack, executors.slice(0, 1)), await startSide(stack, executors)] as const
  try {
    const rows: string[][] = []
    for (const mode of modes) {
      for (const side of sides) await rateOf(side, mode, WARM_UP_JOBS)
      const rates: [number[], number[]] = [[], []]
      for (let round = 0; round < ROUNDS; round++)
        for (const [at, side] of sides.entries()) rates[at]!.push(await rateOf(side, mode, JOBS))
      const [one, two] = rates.map(median) as [number, number]
      const shown = [one, two].map((rate, at) => `${rate.toFixed(2)} (${spread(rates[at]!, 2)})`)
      rows.push([mode, ...shown, `${(two / one).toFixed(2)}x`])
    }
    printTable(
      `Jobs that wait ${WAIT_SECONDS} s, ${SLOTS} slots for each executor, medians of ${ROUNDS} rounds of ${JOBS} jobs`,
      ['mode', '1 executor, jobs/s', '2 executors, jobs/s', 'ratio'],
      rows
    )
  } finally {
    for (const { platform } of sides) await platform.close()
    for (const executor of executors) await executor.stop()
  }
}

async function startSide(stack: BenchStack, executors: Executor[]): Promise<Side> {
  const own = { EXECUTOR_URL: executors.map(({ url }) => url).join(',') }
  const platform = await stack.platform(`bench_pool_${executors.length}`, stack.executors.real, own)
  await platform.startWorker()
  return { platform, submitted: 0 }
}

async function rateOf(side: Side, mode: (typeof modes)[number], jobs: number): Promise<number> {
  const body = JSON.stringify({
    inline_code: code,
    framework: 'qiskit',
    backend: 'local',
    params: { shots: 1 },
    execution_mode: mode
  })
  const began = performance.now()
  await submitMany(side.platform, mode, jobs, jobs, body)
  side.submitted += jobs
  await untilCompleted(side.platform, side.submitted)
  return (1_000 * jobs) / (performance.now() - began)
}
