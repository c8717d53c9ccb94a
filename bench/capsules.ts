// Capsules: verdicts in a thread, a large capsule from its job to a file and back, and a thousand verifications that are due
// at the same time.
import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readPackage } from '../capsule-format/package-reader.js'
import { isFinal, type JobStatus } from '../domain/jobs/job-status.js'
import { randomOf } from '../domain/verification/statistics/random.js'
import { startJudgePool } from '../services/threads/judge-pool.js'
import { bell, resultOf, sampler, shifted } from '../test/support/capsules/verification-runs.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const ROUNDS = 9
const SHOTS = 100_000
const VERDICT_GOAL_MS = 300
/** Five capsules of two teams, a hundred verifications each: the daily limit of a team. */
const [TEAMS, CAPSULES, TIMES] = [2, 5, 100]
const LIMIT_MS = 900_000
/** Encrypts the key that signs seals. */
const RING = `bench:${randomBytes(32).toString('base64')}`

export async function benchCapsules(stack: BenchStack): Promise<void> {
  await verdicts()
  const platform = await stack.platform('bench_capsules', stack.executors.real, { SECRETS_KEYS: RING })
  try {
    await platform.startWorker()
    await largeCapsule(platform)
    await verificationsAtOnce(platform)
  } finally {
    await platform.close()
  }
}

async function verdicts(): Promise<void> {
  const pool = startJudgePool()
  const facts = { hardware: false, local: true, completedAt: null }
  const rows: string[][] = []
  for (const outcomes of [4, 1024, 10_000, 100_000]) {
    const next = sampler(outcomes === 4 ? bell(4, 0.05) : shifted(outcomes, 0), randomOf(`bench ${outcomes}`))
    const [sealed, rerun] = [next(SHOTS), next(SHOTS)].map((counts) => ({ text: resultOf(counts), facts }))
    const input = { tasks: [{ name: 'main', sealed: sealed!, rerun: rerun! }], margin: 0.05 }
    await pool.judgeInThread('a team', input)
    const loop = monitorEventLoopDelay({ resolution: 1 })
    loop.enable()
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await timed(() => pool.judgeInThread('a team', input)))
    loop.disable()
    const ms = median(times)
    rows.push([
      String(outcomes),
      ms.toFixed(0),
      Math.max(...times).toFixed(0),
      (loop.max / 1e6).toFixed(0),
      `< ${VERDICT_GOAL_MS} ms: ${ms < VERDICT_GOAL_MS ? 'reached' : 'missed'}`
    ])
  }
  await pool.close()
  printTable(
    'Verdict on 100,000 shots against 100,000',
    ['outcomes', 'ms', 'slowest', 'longest loop delay, ms', 'goal'],
    rows
  )
}

/** 17 qubits in superposition, so that nearly every outcome occurs in the counts. */
const wide = `OPENQASM 3.0; include "stdgates.inc"; qubit[17] q; ${Array.from({ length: 17 }, (_, k) => `h q[${k}];`).join(' ')}`

async function largeCapsule(platform: BenchPlatform): Promise<void> {
  const rows: string[][] = []
  for (const [name, payload] of [
    ['Bell pair', 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; h q[0]; cx q[0], q[1];'],
    ['17 qubits, every outcome', wide]
  ] as const) {
    const jobId = await completed(platform, platform.cookie, payload, SHOTS)
    const times: Record<'from-job' | 'seal' | 'export' | 'crate' | 'read', number[]> = {
      'from-job': [],
      seal: [],
      export: [],
      crate: [],
      read: []
    }
    let bytes = 0
    // The first round warms up and is not counted.
    for (let round = -1; round < ROUNDS; round++) {
      const add = (name: keyof typeof times, ms: number) => round >= 0 && times[name].push(ms)
      let id = ''
      add(
        'from-job',
        await timed(async () => {
          id = (await call(platform, platform.cookie, 'POST', '/api/capsules/from-job', { job_id: jobId })).capsule_id
        })
      )
      add(
        'seal',
        await timed(() => call(platform, platform.cookie, 'POST', `/api/capsules/${id}/seal`, { exit_code: 0 }))
      )
      let archive: Buffer = Buffer.alloc(0)
      add(
        'export',
        await timed(async () => {
          archive = await download(platform, `/api/capsules/${id}/export`)
        })
      )
      add('crate', await timed(() => download(platform, `/api/capsules/${id}/export?format=rocrate`)))
      add('read', await timed(() => readPackage(archive)))
      bytes = archive.length
    }
    rows.push([name, (bytes / 1024).toFixed(0), ...Object.values(times).map((all) => median(all).toFixed(0))])
  }
  printTable(
    'A capsule made from a job of 100,000 shots, ms',
    ['circuit', 'archive KiB', 'from-job', 'seal', '.capsule', 'RO-Crate', 'read back'],
    rows
  )
}

async function verificationsAtOnce(platform: BenchPlatform): Promise<void> {
  const began = performance.now()
  for (let team = 0; team < TEAMS; team++) {
    const cookie = await platform.signUp(`scheduled-${team}@example.org`)
    for (let capsule = 0; capsule < CAPSULES; capsule++) await dueAtOnce(platform, cookie)
  }
  const requested = performance.now() - began
  const total = TEAMS * CAPSULES * TIMES
  const { sql } = platform.connection
  while (true) {
    const [open] =
      await sql`select count(*)::int as left from capsule_runs where status in ('pending', 'running', 'judging')`
    if (open!.left === 0) break
    if (performance.now() - began > LIMIT_MS)
      throw new Error(`${open!.left} verifications are still open after ${LIMIT_MS / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  const runs = await sql<{ verdict: string | null; waited: number; took: number }[]>`
    select verdict, extract(epoch from started_at - created_at)::float as waited,
      extract(epoch from completed_at - started_at)::float as took
    from capsule_runs where trigger = 'backfill'`
  const [span] = await sql<{ seconds: number }[]>`
    select extract(epoch from max(completed_at) - min(created_at))::float as seconds from capsule_runs where trigger = 'backfill'`
  const verdictCounts = [...new Set(runs.map(({ verdict }) => verdict))].map(
    (verdict) => `${runs.filter((run) => run.verdict === verdict).length} ${verdict}`
  )
  if (runs.length !== total) throw new Error(`${runs.length} of ${total} runs were created`)
  const of = (values: number[], share: number) => quantile(values, share).toFixed(1)
  const waited = runs.map((run) => run.waited)
  const took = runs.map((run) => run.took)
  printTable(
    `${total} scheduled verifications, due at the same time`,
    ['requested in s', 'all judged in s', 'per second', 'waited p50 / p95 s', 'ran p50 / p95 s', 'verdicts'],
    [
      [
        (requested / 1000).toFixed(1),
        span!.seconds.toFixed(1),
        (total / span!.seconds).toFixed(1),
        `${of(waited, 0.5)} / ${of(waited, 0.95)}`,
        `${of(took, 0.5)} / ${of(took, 0.95)}`,
        verdictCounts.join(', ')
      ]
    ]
  )
}

/** Creates a sealed capsule with a schedule, and requests a backfill of the last hundred minutes. */
async function dueAtOnce(platform: BenchPlatform, cookie: string): Promise<void> {
  const bellPair = 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; h q[0]; cx q[0], q[1];'
  const jobId = await completed(platform, cookie, bellPair, 1000)
  const body = { job_id: jobId, seal: true }
  const { capsule_id: id } = await call(platform, cookie, 'POST', '/api/capsules/from-job', body)
  await call(platform, cookie, 'PUT', `/api/capsules/${id}/schedule`, {
    cron: '* * * * *',
    timezone: 'UTC',
    paused: true
  })
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const [from, to] = [minute - TIMES * 60_000, minute - 60_000].map((at) => new Date(at).toISOString())
  await call(platform, cookie, 'POST', `/api/capsules/${id}/schedule/backfill`, { from, to })
}

async function completed(platform: BenchPlatform, cookie: string, payload: string, shots: number): Promise<string> {
  const body = { circuit: { format: 'qasm3', payload }, backend: 'local', params: { shots } }
  const { job_id: id } = await call(platform, cookie, 'POST', '/api/jobs/submit', body)
  while (true) {
    const { status } = await call(platform, cookie, 'GET', `/api/jobs/${id}/status?wait=20`)
    if (status === 'completed') return id
    if (isFinal(status as JobStatus)) throw new Error(`a job of the bench is ${status}`)
  }
}

async function call(
  { base }: BenchPlatform,
  cookie: string,
  method: string,
  path: string,
  body?: unknown
): Promise<Record<'job_id' | 'capsule_id' | 'status', string>> {
  const response = await fetch(base + path, {
    method,
    headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<'job_id' | 'capsule_id' | 'status', string>
}

async function download({ base, cookie }: BenchPlatform, path: string): Promise<Buffer> {
  const response = await fetch(base + path, { headers: { cookie } })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await run()
  return performance.now() - began
}
