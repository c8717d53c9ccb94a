// Comparisons of two jobs over HTTP: 100,000 shots against 100,000, over few and over many outcomes.
import { request } from 'undici'
import { isFinal, type JobStatus } from '../domain/jobs/job-status.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const ROUNDS = 20
const SHOTS = 100_000
const GOAL_MS = 500

/** Every outcome of 2, 10 and 17 qubits is equally likely, so that the last has nearly as many as shots. */
const WIDTHS = [2, 10, 17]

export async function benchCompare(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_compare', stack.executors.real)
  try {
    await platform.startWorker()
    const rows: string[][] = []
    for (const qubits of WIDTHS) rows.push(await compared(platform, qubits))
    printTable(
      'POST /api/jobs/compare, 100,000 shots against 100,000',
      ['outcomes', 'p50 ms', 'p95 ms', 'response KiB', 'goal'],
      rows
    )
  } finally {
    await platform.close()
  }
}

async function compared(platform: BenchPlatform, qubits: number): Promise<string[]> {
  const [a, b] = [await completed(platform, qubits), await completed(platform, qubits)]
  const times: number[] = []
  let [bytes, outcomes] = [0, 0]
  // The first starts the thread and is not counted.
  for (let round = -1; round < ROUNDS; round++) {
    const began = performance.now()
    const text = await call(platform, 'POST', '/api/jobs/compare', { a, b })
    if (round >= 0) times.push(performance.now() - began)
    bytes = Buffer.byteLength(text)
    outcomes = JSON.parse(text).circuits[0].outcomes
  }
  const ms = median(times)
  return [
    outcomes.toLocaleString('en-US'),
    ms.toFixed(0),
    quantile(times, 0.95).toFixed(0),
    (bytes / 1024).toFixed(0),
    `< ${GOAL_MS} ms: ${ms < GOAL_MS ? 'reached' : 'missed'}`
  ]
}

async function completed(platform: BenchPlatform, qubits: number): Promise<string> {
  const gates = Array.from({ length: qubits }, (_, k) => `h q[${k}];`).join(' ')
  const payload = `OPENQASM 3.0; include "stdgates.inc"; qubit[${qubits}] q; ${gates}`
  const body = { circuit: { format: 'qasm3', payload }, backend: 'local', params: { shots: SHOTS } }
  const { job_id: id } = JSON.parse(await call(platform, 'POST', '/api/jobs/submit', body))
  while (true) {
    const { status } = JSON.parse(await call(platform, 'GET', `/api/jobs/${id}/status?wait=20`))
    if (status === 'completed') return id
    if (isFinal(status as JobStatus)) throw new Error(`a job of the bench is ${status}`)
  }
}

async function call({ base, cookie }: BenchPlatform, method: 'GET' | 'POST', path: string, body?: object) {
  const answer = await request(`${base}${path}`, {
    method,
    headers: { cookie, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return text
}
