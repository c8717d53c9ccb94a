// The executor alone: its start time, the memory of its waiting children, how soon they are replaced, and its runs per
// second.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { type Executor, startExecutor } from '../apps/cli/stack/parts/executor.js'
import { programFile } from './bare/bare-python.js'
import { type BenchStack, EXECUTOR_TOKEN } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const SLOTS = 2
const REFILLS = 20
const WARM_UP_RUNS_EACH = 10
const RUNS_EACH = 100
const LIMIT_MS = 60_000
const IDLE_MIB_GOAL = 10

interface Zygote {
  set: string
  ready: number
  pids: number[]
}

interface Health {
  pid: number
  sandbox: { level: string; zygotes: Zygote[] }
}

export async function benchExecutor(stack: BenchStack): Promise<void> {
  const started = performance.now()
  const executor = await startExecutor({ token: EXECUTOR_TOKEN, slots: String(SLOTS) }, stack.spawn)
  const agent = new Agent({ connections: SLOTS })
  try {
    const rows: string[][] = [['start to the first health response, self-test included', seconds(started), '']]
    await run(executor, agent, 'openqasm', 'bell.qasm')
    rows.push(['start to the first counts', seconds(started), ''])
    await run(executor, agent, 'cirq', 'bell_cirq.py')
    rows.push(['start to the first counts of another framework', seconds(started), ''])
    const { sandbox } = await health(executor, agent)
    rows.push(['isolation', sandbox.level, ''])
    for (const zygote of sandbox.zygotes) rows.push(...idleMemory(zygote))
    for (const [framework, file] of [
      ['openqasm', 'bell.qasm'],
      ['cirq', 'bell_cirq.py']
    ] as const) {
      const refills: number[] = []
      for (let at = 0; at < REFILLS; at++) refills.push(await refill(executor, agent, framework, file))
      rows.push([
        `${framework}: all children ready again after a response`,
        `${median(refills).toFixed(0)} ms p50, ${quantile(refills, 0.95).toFixed(0)} ms p95`,
        ''
      ])
    }
    for (const [framework, file] of [
      ['openqasm', 'bell.qasm'],
      ['qiskit', 'bell_qiskit.py'],
      ['cirq', 'bell_cirq.py']
    ] as const)
      rows.push([
        `${framework}: ${SLOTS} callers, sustained`,
        `${await sustained(executor, framework, file)} runs/s`,
        ''
      ])
    printTable('The executor alone', ['what', 'figure', 'goal'], rows)
  } finally {
    await agent.close()
    await executor.stop()
  }
}

const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`

function idleMemory({ set, pids }: Zygote): string[][] {
  const sizes = pids
    .slice(1)
    .map(privateMib)
    .sort((a, b) => a - b)
  const worst = sizes.at(-1) ?? Number.NaN
  return [
    [`${set}: private memory of the zygote`, `${privateMib(pids[0]!).toFixed(0)} MiB`, ''],
    [
      `${set}: private memory of a waiting child, the largest of ${sizes.length}`,
      `${worst.toFixed(1)} MiB`,
      `<= ${IDLE_MIB_GOAL} MiB: ${worst <= IDLE_MIB_GOAL ? 'reached' : 'missed'}`
    ]
  ]
}

function privateMib(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  return (kib('Private_Dirty') + kib('Private_Clean')) / 1024
}

async function refill(executor: Executor, agent: Agent, framework: string, file: string): Promise<number> {
  const full = readyOf(await health(executor, agent))
  await run(executor, agent, framework, file)
  const started = performance.now()
  while (performance.now() - started < LIMIT_MS)
    if (readyOf(await health(executor, agent)) >= full) return performance.now() - started
  throw new Error('the children were not replaced in time')
}

const readyOf = ({ sandbox }: Health) => sandbox.zygotes.reduce((sum, { ready }) => sum + ready, 0)

async function sustained(executor: Executor, framework: string, file: string): Promise<string> {
  await runByCallers(executor, framework, file, WARM_UP_RUNS_EACH)
  const started = performance.now()
  await runByCallers(executor, framework, file, RUNS_EACH)
  return ((SLOTS * RUNS_EACH * 1000) / (performance.now() - started)).toFixed(1)
}

/** As many callers as slots, each with `count` consecutive runs. */
async function runByCallers(executor: Executor, framework: string, file: string, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: SLOTS }, async () => {
      const agent = new Agent({ connections: 1 })
      for (let at = 0; at < count; at++) await run(executor, agent, framework, file)
      await agent.close()
    })
  )
}

async function health(executor: Executor, agent: Agent): Promise<Health> {
  const response = await request(`${executor.url}/health`, { headers, dispatcher: agent })
  return (await response.body.json()) as Health
}

const headers = { authorization: `Bearer ${EXECUTOR_TOKEN}` }

async function run(executor: Executor, dispatcher: Agent, framework: string, file: string): Promise<void> {
  const source = { kind: 'code', framework, code: readFileSync(programFile(file), 'utf8') }
  const body = {
    run_id: 'bench',
    source,
    engine: 'statevector',
    backend: 'local',
    max_qubits: 25,
    params: { shots: 1024 }
  }
  const response = await request(`${executor.url}/run`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher
  })
  const text = await response.body.text()
  if (response.statusCode !== 200 || !text.includes('"status":"completed"'))
    throw new Error(`the executor returned ${response.statusCode}: ${text}`)
}
