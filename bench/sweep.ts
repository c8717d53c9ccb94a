// Points of a sweep per second, from the submission to the result: one job of many points, against the same circuits as single
// jobs, and against a loop over qiskit-aer without the platform. The three take turns.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { request } from 'undici'
import { projectRoot } from '../apps/cli/stack/project.js'
import { isFinal, type JobStatus } from '../domain/jobs/job-status.js'
import { programFile } from './bare/bare-python.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { againstGoal, median, printTable, spread } from './support/table.js'

const POINTS = 200
const SHOTS = 1_000
const ROUNDS = 3
/** Single jobs that are submitted at the same time. */
const CLIENTS = 10
const SINGLE_GOAL = 10
const AER_GOAL = 0.5
const LIMIT_MS = 600_000

const payload = readFileSync(programFile('ansatz.qasm'), 'utf8')
const point = (at: number) => ({ theta: at / POINTS })

export async function benchSweep(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_sweep', stack.executors.real)
  try {
    await platform.startWorker()
    // The first jobs warm up connections, code and the executor's children; they are not counted.
    await sweep(platform)
    await singleJobs(platform, CLIENTS)
    const rates = { sweep: [] as number[], single: [] as number[], aer: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      rates.aer.push(await aer())
      rates.single.push(await singleJobs(platform, POINTS))
      rates.sweep.push(await sweep(platform))
    }
    const ours = median(rates.sweep)
    const times = ours / median(rates.single)
    const rows = [
      ['one job', rates.sweep, ''],
      [
        'single jobs',
        rates.single,
        `${times.toFixed(1)}x (goal ${SINGLE_GOAL}x: ${times >= SINGLE_GOAL ? 'reached' : 'missed'})`
      ],
      ['qiskit-aer in process', rates.aer, againstGoal(ours / median(rates.aer), AER_GOAL)]
    ] as const
    printTable(
      `A sweep of ${POINTS} points, ${SHOTS} shots each, medians of ${ROUNDS} rounds`,
      ['points as', 'points/s', 'lowest-highest', 'one job against it'],
      rows.map(([name, rate, ratio]) => [name, median(rate).toFixed(1), spread(rate, 1), ratio])
    )
  } finally {
    await platform.close()
  }
}

/** Points per second of one job that has all of them. */
async function sweep(platform: BenchPlatform): Promise<number> {
  const began = performance.now()
  const points = Array.from({ length: POINTS }, (_, at) => point(at))
  const id = await submitted(platform, { shots: SHOTS, points })
  const { result } = await ended(platform, id)
  const seconds = (performance.now() - began) / 1_000
  const { points: done, failed_points: failed } = result as { points?: unknown[]; failed_points?: number[] }
  if (done?.length !== POINTS || failed?.length !== 0)
    throw new Error(`the sweep has ${done?.length ?? 'no'} points, of which failed: ${failed}`)
  return POINTS / seconds
}

/** Points per second of `count` jobs with a point each. */
async function singleJobs(platform: BenchPlatform, count: number): Promise<number> {
  const began = performance.now()
  let next = 0
  const client = async () => {
    const ids: string[] = []
    while (next < count) ids.push(await submitted(platform, { shots: SHOTS, ...point(next++) }))
    for (const id of ids) await ended(platform, id)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return (1_000 * count) / (performance.now() - began)
}

/** Points per second without the platform. The process is new; its first round is not counted. */
async function aer(): Promise<number> {
  const script = join(projectRoot, 'bench/bare/bare_sweep.py')
  const args = [script, programFile('ansatz.qasm'), String(SHOTS), String(POINTS), '1']
  const { stdout } = await promisify(execFile)(join(projectRoot, '.venv/bin/python'), args)
  return POINTS / (JSON.parse(stdout) as number[])[0]!
}

async function submitted({ base, cookie }: BenchPlatform, params: object): Promise<string> {
  const body = { circuit: { format: 'qasm3', payload }, backend: 'local', params }
  const response = await request(`${base}/api/jobs/submit`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const text = await response.body.text()
  if (response.statusCode !== 201) throw new Error(`submit returned ${response.statusCode}: ${text}`)
  return (JSON.parse(text) as { job_id: string }).job_id
}

/** The status of a job that has completed, with its result. */
async function ended({ base, cookie }: BenchPlatform, id: string): Promise<{ result: unknown }> {
  const deadline = performance.now() + LIMIT_MS
  while (performance.now() < deadline) {
    const response = await request(`${base}/api/jobs/${id}/status?wait=20`, { headers: { cookie } })
    const job = (await response.body.json()) as { status: JobStatus; result: unknown }
    if (job.status === 'completed') return job
    if (isFinal(job.status)) throw new Error(`a job of the bench is ${job.status}: ${JSON.stringify(job)}`)
  }
  throw new Error(`job ${id} is not completed after ${LIMIT_MS / 1_000} s`)
}
