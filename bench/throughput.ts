// Jobs per second through each mode, from "recorded" to "completed", against the bare engine: BullMQ with the same SQL,
// Temporal with as many activities. Once with an executor that does nothing (the platform's own cost) and once with the
// real one (what a user sees).

import { Client, Connection } from '@temporalio/client'
import { Queue } from 'bullmq'
import { findBackend } from '../db/backends/backends.js'
import { createJob } from '../db/jobs/jobs.js'
import { lockTeamForWrite } from '../db/teams/teams.js'
import { DIRECT_QUEUE, type JobHandOver } from '../domain/jobs/dispatch.js'
import { paramsFromValue } from '../domain/jobs/params.js'
import { createExecutorClient } from '../services/executor/client.js'
import { BELL } from './bare/bare.js'
import { startBare } from './bare/bare-process.js'
import { type BenchPlatform, type BenchStack, EXECUTOR_TOKEN, type ExecutorAddress } from './support/bench-stack.js'
import { againstGoal, median, printTable } from './support/table.js'

type Mode = 'direct' | 'temporal'

const ROUNDS = 3
const jobsPerRound = { 'no-op': { direct: 600, temporal: 200 }, real: { direct: 8, temporal: 8 } }
const goals = { direct: 0.5, temporal: 0.8 }
const LIMIT_MS = 300_000

export async function benchThroughput(stack: BenchStack): Promise<void> {
  const rows: string[][] = []
  for (const executor of Object.values(stack.executors))
    for (const mode of ['direct', 'temporal'] as const) {
      const rates = { ours: [] as number[], bare: [] as number[] }
      for (let round = 0; round < ROUNDS; round++) {
        rates.bare.push(await bareRate(stack, mode, executor, round))
        rates.ours.push(await platformRate(stack, mode, executor, round))
      }
      const [ours, bare] = [median(rates.ours), median(rates.bare)]
      const name = mode === 'direct' ? 'bare BullMQ + same SQL' : 'bare Temporal'
      rows.push([`${executor.name} executor`, name, bare.toFixed(1), ''])
      rows.push(['', mode, ours.toFixed(1), againstGoal(ours / bare, goals[mode])])
    }
  printTable('Jobs through each mode', ['executor', 'engine', 'jobs/s', 'ratio'], rows)
}

async function platformRate(stack: BenchStack, mode: Mode, executor: ExecutorAddress, round: number): Promise<number> {
  const platform = await stack.platform(`bench_${mode}_${executor.name.replace('-', '')}_${round}`, executor)
  try {
    await platform.startWorker()
    // A first job warms connections and code up; it is not counted.
    await record(platform, mode, 1)
    await release(platform)
    await untilCompleted(platform, 1)
    const count = jobsPerRound[executor.name][mode]
    await record(platform, mode, count)
    return await timed(count, async () => {
      await release(platform)
      await untilCompleted(platform, count + 1)
    })
  } finally {
    await platform.close()
  }
}

async function bareRate(stack: BenchStack, mode: Mode, executor: ExecutorAddress, round: number): Promise<number> {
  const permits = await permitsOf(executor)
  const count = jobsPerRound[executor.name][mode]
  const name = `bare_${mode}_${executor.name.replace('-', '')}_${round}`
  return mode === 'direct'
    ? bareQueueRate(stack, name, executor, count, permits)
    : bareTemporalRate(stack, name, executor, count, permits)
}

async function bareQueueRate(
  stack: BenchStack,
  name: string,
  executor: ExecutorAddress,
  count: number,
  permits: number
): Promise<number> {
  const platform = await stack.platform(name, executor)
  const { DATABASE_URL: databaseUrl } = platform.settings
  const bare = await startBare({
    role: 'bullmq',
    databaseUrl: databaseUrl!,
    redisUrl: stack.redisUrl,
    prefix: name,
    executorUrl: executor.url,
    executorToken: EXECUTOR_TOKEN,
    permits
  })
  const { hostname: host, port, password } = new URL(stack.redisUrl)
  const queue = new Queue<JobHandOver>(DIRECT_QUEUE, {
    connection: { host, port: Number(port), password: decodeURIComponent(password) },
    prefix: name
  })
  try {
    const enqueue = (ids: string[]) =>
      queue.addBulk(ids.map((jobId) => ({ name: 'run', data: { jobId, generation: 1 } })))
    await enqueue(await record(platform, 'direct', 1))
    await untilCompleted(platform, 1)
    const ids = await record(platform, 'direct', count)
    return await timed(count, async () => {
      await enqueue(ids)
      await untilCompleted(platform, count + 1)
    })
  } finally {
    bare.stop()
    await queue.close()
    await platform.close()
  }
}

async function bareTemporalRate(
  stack: BenchStack,
  name: string,
  executor: ExecutorAddress,
  count: number,
  permits: number
): Promise<number> {
  const bare = await startBare({
    role: 'temporal',
    address: stack.temporalAddress,
    taskQueue: name,
    executorUrl: executor.url,
    executorToken: EXECUTOR_TOKEN,
    permits
  })
  const connection = await Connection.connect({ address: stack.temporalAddress })
  const client = new Client({ connection })
  const run = async (id: string) =>
    client.workflow.execute('bareJob', {
      args: [id],
      taskQueue: name,
      workflowId: `${name}-${id}`,
      workflowExecutionTimeout: '5m'
    })
  try {
    await run('warm-up')
    return await timed(count, () => Promise.all(Array.from({ length: count }, (_, at) => run(String(at)))))
  } finally {
    await connection.close()
    bare.stop()
  }
}

async function permitsOf(executor: ExecutorAddress): Promise<number> {
  const client = createExecutorClient(executor.url, EXECUTOR_TOKEN)
  const { slots } = await client.health()
  await client.close()
  return slots.total
}

async function timed(count: number, run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return (count * 1000) / (performance.now() - started)
}

/** Records jobs as submitting does, and keeps them from the relay until `release`. */
async function record(platform: BenchPlatform, mode: Mode, count: number): Promise<string[]> {
  const { db, sql } = platform.connection
  const backend = (await findBackend(db, 'local'))!
  const caller = { userId: platform.user.id, email: platform.user.email, key: null }
  const ids: string[] = []
  for (let at = 0; at < count; at++)
    ids.push(
      await db.transaction(async (tx) =>
        createJob(
          tx,
          {
            source: { kind: 'circuit', format: 'qasm3', text: BELL },
            backend: 'local',
            params: paramsFromValue({ shots: 1024 }),
            mode,
            teamId: await lockTeamForWrite(tx, caller, null),
            name: null,
            labels: [],
            timeoutSeconds: 120,
            maxCost: null,
            notBefore: null,
            circuitCount: 1,
            notify: null
          },
          { caller, backend, at: new Date() }
        )
      )
    )
  await sql`update outbox set next_at = now() + interval '1 hour'`
  return ids
}

async function release({ connection: { sql } }: BenchPlatform): Promise<void> {
  await sql`update outbox set next_at = now()`
}

async function untilCompleted({ connection: { sql } }: BenchPlatform, count: number): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (performance.now() < deadline) {
    const [row] = await sql<{ done: number; failed: number }[]>`
      select count(*) filter (where status = 'completed')::int as done, count(*) filter (where status = 'failed')::int as failed from jobs`
    if (row!.failed > 0) throw new Error('a job of the bench failed')
    if (row!.done >= count) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`jobs are still open after ${LIMIT_MS / 1000} s`)
}
