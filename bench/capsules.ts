// Capsules: a verdict beside the event loop, a large capsule from its job to a file and back, and a thousand verifications
// that are due at once.
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
/** Five capsules of two teams, a hundred times each: what a team may have in a day. */
const [TEAMS, CAPSULES, TIMES] = [2, 5, 100]
const LIMIT_MS = 900_000
/** For the key that signs seals. */
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
    await pool.judgeInThread(input)
    const loop = monitorEventLoopDelay({ resolution: 1 })
    loop.enable()
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await timed(() => pool.judgeInThread(input)))
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
    'Verdict on 100,000 shots beside 100,000',
    ['outcomes', 'ms', 'slowest', 'loop held at most, ms', 'goal'],
    rows
  )
}

/** 17 qubits in superposition: nearly every outcome has its own line in the counts. */
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
    for (let round = 0; round < ROUNDS; round++) {
      let id = ''
      times['from-job'].push(
        await timed(async () => {
          id = (await call(platform, platform.cookie, 'POST', '/api/capsules/from-job', { job_id: jobId })).capsule_id
        })
      )
      times.seal.push(
        await timed(() => call(platform, platform.cookie, 'POST', `/api/capsules/${id}/seal`, { exit_code: 0 }))
      )
      let archive: Buffer = Buffer.alloc(0)
      times.export.push(
        await timed(async () => {
          archive = await download(platform, `/api/capsules/${id}/export`)
        })
      )
      times.crate.push(await timed(() => download(platform, `/api/capsules/${id}/export?format=rocrate`)))
      times.read.push(await timed(() => readPackage(archive)))
      bytes = archive.length
    }
    rows.push([name, (bytes / 1024).toFixed(0), ...Object.values(times).map((all) => median(all).toFixed(0))])
  }
  printTable(
    'A capsule of a job of 100,000 shots, ms',
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
  const asked = performance.now() - began
  const total = TEAMS * CAPSULES * TIMES
  const { sql } = platform.connection
  while (true) {
    const [open] =
      await sql`select count(*)::int as left from capsule_runs where status in ('pending', 'running', 'judging')`
    if (open!.left === 0) break
    if (performance.now() - began > LIMIT_MS) throw new Error(`${open!.left} verifications took too long`)
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
  if (runs.length !== total) throw new Error(`${runs.length} runs of ${total} were made`)
  const of = (values: number[], share: number) => quantile(values, share).toFixed(1)
  const waited = runs.map((run) => run.waited)
  const took = runs.map((run) => run.took)
  printTable(
    `${total} scheduled verifications, due at once`,
    ['asked in s', 'all judged in s', 'per second', 'waited p50 / p95 s', 'ran p50 / p95 s', 'verdicts'],
    [
      [
        (asked / 1000).toFixed(1),
        span!.seconds.toFixed(1),
        (total / span!.seconds).toFixed(1),
        `${of(waited, 0.5)} / ${of(waited, 0.95)}`,
        `${of(took, 0.5)} / ${of(took, 0.95)}`,
        verdictCounts.join(', ')
      ]
    ]
  )
}

/** A sealed capsule with a schedule, and the last hundred minutes of it asked for. */
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
    if (isFinal(status as JobStatus)) throw new Error(`a job of the bench ended as ${status}`)
  }
}

async function call(
  { base }: BenchPlatform,
  cookie: string,
  method: string,
  path: string,
  body?: unknown
): Promise<Record<'job_id' | 'capsule_id' | 'status', string>> {
  const answer = await fetch(base + path, {
    method,
    headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<'job_id' | 'capsule_id' | 'status', string>
}

async function download({ base, cookie }: BenchPlatform, path: string): Promise<Buffer> {
  const answer = await fetch(base + path, { headers: { cookie } })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return Buffer.from(await answer.arrayBuffer())
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await run()
  return performance.now() - began
}
