// The waiting time of a playground user: a program posted to /api/playground/run, against the same program in a warm Python
// process and in a new one; a wide circuit; four users at the same time.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { coldRun, programFile, warmRuns } from './bare/bare-python.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { denseCircuit } from './support/dense-circuit.js'
import { median, printTable, quantile } from './support/table.js'

const WARM_UP = 5
const ROUNDS = 3
const RUNS = 20
const WIDE_RUNS = 3
const USERS = 4
const RUNS_EACH = 40
const SHOTS = 1024

interface Program {
  framework: 'openqasm' | 'qiskit' | 'cirq' | 'pennylane' | 'braket'
  /** The playground's name for it. */
  language: string
  file: string
  goals: { warm: (bare: number) => number; cold?: number }
}

const oneChild = (bare: number) => 3 * bare + 5
const twoChildren = () => 80

const programs: Program[] = [
  { framework: 'openqasm', language: 'openqasm', file: 'bell.qasm', goals: { warm: oneChild } },
  { framework: 'qiskit', language: 'qiskit', file: 'bell_qiskit.py', goals: { warm: oneChild, cold: 25 } },
  { framework: 'cirq', language: 'cirq', file: 'bell_cirq.py', goals: { warm: twoChildren, cold: 100 } },
  { framework: 'pennylane', language: 'pennylane', file: 'bell_pennylane.py', goals: { warm: twoChildren, cold: 100 } },
  { framework: 'braket', language: 'marqov', file: 'bell_braket.py', goals: { warm: twoChildren } }
]

export async function benchPlayground(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_playground', stack.executors.real)
  try {
    await benchBell(platform)
    await benchWide(platform)
    await benchUsers(platform)
  } finally {
    await platform.close()
  }
}

async function benchBell(platform: BenchPlatform): Promise<void> {
  const rows: string[][] = []
  for (const { framework, language, file, goals } of programs) {
    const path = programFile(file)
    const code = readFileSync(path, 'utf8')
    const inProcess: number[] = []
    const ours: number[] = []
    const cold: number[] = []
    // In turns, so that other load on the machine affects all three.
    for (let round = 0; round < ROUNDS; round++) {
      inProcess.push(...(await warmRuns(framework, path, RUNS, 1)))
      ours.push(...(await playMany(platform, platform.cookie, language, code, RUNS)))
      cold.push(await coldRun(framework, path))
    }
    const bare = median(inProcess)
    const warm = median(ours)
    const limit = goals.warm(bare)
    const times = median(cold) / warm
    rows.push([
      framework,
      bare.toFixed(1),
      warm.toFixed(1),
      quantile(ours, 0.95).toFixed(1),
      `<= ${limit.toFixed(0)} ms: ${warm <= limit ? 'reached' : 'missed'}`,
      median(cold).toFixed(0),
      goals.cold
        ? `${times.toFixed(0)}x (goal ${goals.cold}x: ${times >= goals.cold ? 'reached' : 'missed'})`
        : `${times.toFixed(0)}x`
    ])
  }
  const head = ['framework', 'in process ms', 'playground p50 ms', 'p95 ms', 'goal', 'new python ms', 'faster by']
  printTable(`A Bell pair, ${SHOTS} shots, POST /api/playground/run`, head, rows)
}

async function benchWide(platform: BenchPlatform): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'qjs-bench-'))
  const file = join(folder, 'dense.qasm')
  const code = denseCircuit(20, 20)
  writeFileSync(file, code)
  try {
    const times = { bare: [] as number[], all: [] as number[], ours: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      times.bare.push(...(await warmRuns('openqasm', file, WIDE_RUNS, 1)))
      times.all.push(...(await warmRuns('openqasm', file, WIDE_RUNS)))
      times.ours.push(...(await playMany(platform, platform.cookie, 'openqasm', code, WIDE_RUNS)))
    }
    const [bare, all, ours] = [median(times.bare), median(times.all), median(times.ours)]
    const ratio = ours / bare
    printTable(
      '20 qubits, depth 20, state vector',
      ['', 'p50 ms', 'against one core in process'],
      [
        ['in process, one core', bare.toFixed(0), ''],
        ['in process, every core', all.toFixed(0), (all / bare).toFixed(2)],
        ['playground', ours.toFixed(0), `${ratio.toFixed(2)} (goal 1.10: ${ratio <= 1.1 ? 'reached' : 'missed'})`]
      ]
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function benchUsers(platform: BenchPlatform): Promise<void> {
  const cookies = [platform.cookie]
  for (let user = 1; user < USERS; user++) cookies.push(await platform.signUp(`bench-${user}@example.org`))
  const rows: string[][] = []
  for (const { framework, language, file } of programs) {
    const code = readFileSync(programFile(file), 'utf8')
    const started = performance.now()
    const waits = (
      await Promise.all(cookies.map((cookie) => playMany(platform, cookie, language, code, RUNS_EACH)))
    ).flat()
    const rate = ((waits.length + USERS * WARM_UP) * 1000) / (performance.now() - started)
    rows.push([framework, quantile(waits, 0.5).toFixed(0), quantile(waits, 0.95).toFixed(0), rate.toFixed(1)])
  }
  printTable(`${USERS} users at the same time, Bell pair`, ['framework', 'p50 ms', 'p95 ms', 'runs/s'], rows)
}

/** Milliseconds of each of `count` consecutive runs, after a few that are not counted. */
async function playMany(
  platform: BenchPlatform,
  cookie: string,
  language: string,
  code: string,
  count: number
): Promise<number[]> {
  const agent = new Agent({ connections: 1 })
  const waits: number[] = []
  try {
    for (let run = -WARM_UP; run < count; run++) {
      const begun = performance.now()
      const response = await request(`${platform.base}/api/playground/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify({ code, language, backend: 'local', shots: SHOTS }),
        dispatcher: agent
      })
      const text = await response.body.text()
      if (response.statusCode !== 200) throw new Error(`the playground returned ${response.statusCode}: ${text}`)
      if (run >= 0) waits.push(performance.now() - begun)
    }
  } finally {
    await agent.close()
  }
  return waits
}
