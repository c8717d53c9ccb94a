// A backup of 10,000 jobs while the api serves requests, and its restore: time, size, memory, and what it costs the requests.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { projectRoot } from '../apps/cli/stack/project.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { seedJobs } from './support/seed-jobs.js'
import { median, printTable, quantile } from './support/table.js'

const JOBS = 10_000
const ROUNDS = 3
const KEYS = `bench:${Buffer.from('a ring key of 32 bytes for bench').toString('base64')}`

export async function benchBackup(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_backup', stack.executors['no-op'])
  const folder = mkdtempSync(join(tmpdir(), 'qjs-bench-backup-'))
  try {
    await seedJobs(platform, JOBS)
    await addContent(platform)
    const rows: string[][] = []
    const quiet = await latencies(platform, delay(5_000))
    for (let round = 1; round <= ROUNDS; round++) {
      const file = join(folder, `${round}.tar.gz`)
      const backup = run(['backup', file], { DATABASE_URL: platform.settings.DATABASE_URL!, SECRETS_KEYS: KEYS })
      const during = await latencies(platform, backup)
      const name = `bench_restored_${round}`
      await platform.connection.sql.unsafe(`create database ${name}`)
      const target = new URL(platform.settings.DATABASE_URL!)
      target.pathname = `/${name}`
      const restored = await run(['restore', file], { DATABASE_URL: target.href, SECRETS_KEYS: KEYS })
      const backedUp = await backup
      rows.push([
        seconds(backedUp),
        mebibytes(statSync(file).size),
        mebibytes(backedUp.peakBytes),
        seconds(restored),
        mebibytes(restored.peakBytes),
        `${median(quiet).toFixed(1)} / ${quantile(quiet, 0.99).toFixed(1)}`,
        `${median(during).toFixed(1)} / ${quantile(during, 0.99).toFixed(1)}`
      ])
    }
    const [size] = await platform.connection.sql`select pg_database_size(current_database())::float8 as bytes`
    printTable(
      `${JOBS} jobs with results and circuits, ${mebibytes(size!.bytes)} MiB on disk`,
      ['backup s', 'file MiB', 'peak MiB', 'restore s', 'peak MiB', 'list p50 / p99 ms', 'during the backup'],
      rows
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await platform.close()
  }
}

/** The events of each job, and for a completed one a result of 40 outcomes and its circuit. */
async function addContent({ connection: { sql } }: BenchPlatform): Promise<void> {
  await sql`
    insert into job_events (job_id, seq, type, status, at)
    select id, seq, 'status', case seq when 1 then 'pending' when 2 then 'running' else status end, created_at
    from jobs, generate_series(1, 3) seq`
  await sql`
    insert into artifacts (job_id, name, sha256, size_bytes, media_type, content)
    select id, files.name, encode(sha256(content), 'hex'), length(content), 'application/json', content from jobs,
      lateral (select 'result.json' as name, convert_to('{"counts":{' || (select string_agg('"' || n::bit(10)::text || '": ' ||
          abs(hashtext(jobs.id::text || n)) % 1000, ', ') from generate_series(1, 40) n) || '}, "metadata": {}}', 'UTF8') as content
        union all select 'circuit.qasm', convert_to(repeat('cx q[' || abs(hashtext(jobs.id::text)) % 20 || '], q[0];', 50), 'UTF8')) files
    where status = 'completed'`
}

interface Ended {
  ms: number
  peakBytes: number
}

async function run(args: string[], env: Record<string, string>): Promise<Ended> {
  const begun = performance.now()
  const child = spawn(process.execPath, [join(projectRoot, 'dist/apps/cli/main.js'), 'admin', ...args], {
    env: { PATH: process.env.PATH, DATA_DIR: join(tmpdir(), 'none'), ...env },
    stdio: ['ignore', 'ignore', 'pipe']
  })
  let stderr = ''
  child.stderr.on('data', (text) => (stderr += text))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  let over = false
  void exited.then(() => (over = true))
  let peakBytes = 0
  while (!over) {
    peakBytes = Math.max(peakBytes, peakOf(child))
    await delay(20)
  }
  if ((await exited) !== 0) throw new Error(`qjob admin ${args[0]}: ${stderr}`)
  return { ms: performance.now() - begun, peakBytes }
}

/** The most memory that the process has had, according to Linux; 0 elsewhere. */
function peakOf({ pid }: ChildProcess): number {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

async function latencies({ base, cookie }: BenchPlatform, until: Promise<unknown>): Promise<number[]> {
  let over = false
  void until.then(
    () => (over = true),
    () => (over = true)
  )
  const times: number[] = []
  while (!over) {
    const begun = performance.now()
    const { body } = await request(`${base}/api/jobs?limit=50`, { headers: { cookie } })
    await body.text()
    times.push(performance.now() - begun)
    await delay(5)
  }
  return times
}

const seconds = ({ ms }: Ended): string => (ms / 1000).toFixed(1)
const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1)
