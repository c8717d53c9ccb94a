// The time from a print in a program to its event at a client, of jobs that run side by side. The program prints the time:
// client and program share one clock.
import type { ExecutionMode } from '../domain/jobs/job-status.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { printTable, quantile } from './support/table.js'

const LINES = 30
const JOBS = 2
const GOAL_MS = 300

/** Waits between two lines for a random time, so that lines meet no rhythm of the service. */
const program = (seconds: number) => `import random, time
from qiskit import QuantumCircuit
for _ in range(${LINES}):
    time.sleep(${seconds} * (0.5 + random.random()))
    print(time.time())
circuit = QuantumCircuit(1)
circuit.measure_all()
`

export async function benchLiveOutput(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_live_output', stack.executors.real)
  try {
    await platform.startWorker()
    await delaysOf(platform, 'direct', program(0))
    const rows: string[][] = []
    for (const mode of ['direct', 'temporal'] as const)
      for (const seconds of [0.5, 0.05]) {
        const jobs = Array.from({ length: JOBS }, () => delaysOf(platform, mode, program(seconds)))
        const delays = (await Promise.all(jobs)).flat()
        const p95 = quantile(delays, 0.95)
        rows.push([
          `${mode}, a line each ${seconds} s`,
          `${delays.length} of ${JOBS * LINES}`,
          [0.5, 0.95, 0.99].map((share) => quantile(delays, share).toFixed(0)).join(' / '),
          `p95 < ${GOAL_MS}: ${p95 < GOAL_MS ? 'reached' : 'missed'}`
        ])
      }
    printTable(
      `from print to client, ${JOBS} jobs at once`,
      ['program', 'lines', 'time, p50 / p95 / p99 ms', 'goal'],
      rows
    )
  } finally {
    await platform.close()
  }
}

/** Runs a program and follows it; returns the delays of its lines, in milliseconds. */
async function delaysOf({ base, cookie }: BenchPlatform, mode: ExecutionMode, code: string): Promise<number[]> {
  const submitted = await fetch(`${base}/api/jobs/submit`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({
      inline_code: code,
      framework: 'qiskit',
      backend: 'local',
      execution_mode: mode,
      params: { shots: 1 }
    })
  })
  if (submitted.status !== 201) throw new Error(`submit returned ${submitted.status}: ${await submitted.text()}`)
  const { job_id } = (await submitted.json()) as { job_id: string }
  const stream = await fetch(`${base}/api/jobs/${job_id}/events`, { headers: { cookie } })
  const delays: number[] = []
  let rest = ''
  for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (!line.startsWith('data:')) continue
      const event = JSON.parse(line.slice('data:'.length)) as { type: string; text?: string }
      if (event.type === 'output')
        for (const printed of event.text!.match(/.+/g) ?? []) delays.push(Date.now() - 1_000 * Number(printed))
    }
  }
  return delays
}
