// The response time of a submission with 1, 10 and 50 callers at the same time, with the api alone and while the jobs run as
// in production (no-op executor), when the worker uses its share of the cores; and of jobs with a price, which take turns at
// the counters of their team.
import { Agent, request } from 'undici'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { printTable, quantile } from './support/table.js'

const WARM_UP = 100
const REQUESTS = 1_000
const P99_GOAL_MS = 50
/** Gets the smallest price. */
const PRICED = 'marqov-sim'

/** @param other fields in place of those of a Bell pair on `local`. */
export const submissionBody = (mode: string, other: Record<string, unknown> = {}): string =>
  JSON.stringify({
    circuit: {
      format: 'qasm3',
      payload: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
    },
    backend: 'local',
    execution_mode: mode,
    params: { shots: 1024 },
    ...other
  })

export async function benchSubmit(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_submit', stack.executors['no-op'])
  const rows: string[][] = []
  try {
    await submitMany(platform, 'direct', 10, WARM_UP)
    for (const clients of [1, 10, 50])
      rows.push(row('api alone', clients, await submitMany(platform, 'direct', clients, REQUESTS)))
    await platform.connection.sql`update backends set task_fee_micro = 1 where slug = ${PRICED}`
    const priced = submissionBody('direct', { backend: PRICED })
    for (const clients of [1, 10])
      rows.push(
        row('api alone, with a price', clients, await submitMany(platform, 'direct', clients, REQUESTS, priced))
      )
    await platform.startWorker()
    await untilAllAreFinal(platform)
    for (const mode of ['direct', 'temporal']) {
      await submitMany(platform, mode, 10, WARM_UP)
      await untilAllAreFinal(platform)
      for (const clients of [1, 10, 50]) {
        rows.push(row(`${mode}, jobs running`, clients, await submitMany(platform, mode, clients, REQUESTS)))
        await untilAllAreFinal(platform)
      }
    }
  } finally {
    await platform.close()
  }
  printTable('POST /api/jobs/submit', ['case', 'clients', 'submissions/s', 'p50 ms', 'p99 ms', ''], rows)
}

/** Sends `count` submissions by `clients` callers at the same time. */
export async function submitMany(
  platform: BenchPlatform,
  mode: string,
  clients: number,
  count: number,
  body = submissionBody(mode)
) {
  const agent = new Agent({ connections: clients })
  const headers = { 'content-type': 'application/json', cookie: platform.cookie }
  const latencies: number[] = []
  let left = count
  const started = performance.now()
  const client = async () => {
    while (left-- > 0) {
      const begun = performance.now()
      const response = await request(`${platform.base}/api/jobs/submit`, {
        method: 'POST',
        headers,
        body,
        dispatcher: agent
      })
      const answer = await response.body.text()
      if (response.statusCode !== 201) throw new Error(`submit returned ${response.statusCode}: ${answer}`)
      latencies.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - started) / 1000
  await agent.close()
  return { latencies, rate: count / seconds }
}

function row(label: string, clients: number, { latencies, rate }: { latencies: number[]; rate: number }): string[] {
  const p99 = quantile(latencies, 0.99)
  const verdict = clients === 10 ? `goal p99 < ${P99_GOAL_MS} ms: ${p99 < P99_GOAL_MS ? 'reached' : 'missed'}` : ''
  return [label, String(clients), rate.toFixed(0), quantile(latencies, 0.5).toFixed(1), p99.toFixed(1), verdict]
}

export async function untilAllAreFinal({ connection }: BenchPlatform): Promise<void> {
  const deadline = performance.now() + 300_000
  while (performance.now() < deadline) {
    const [row] = await connection.sql<{ open: number }[]>`
      select count(*)::int as open from jobs where status in ('pending', 'running', 'cancelling')`
    if (row!.open === 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('jobs are still open after five minutes')
}
