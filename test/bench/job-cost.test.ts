// A plain job costs what docs/operations/benchmarks.md says: statements and flushed commits in Postgres, calls to Redis. They are
// counted in api and worker processes with a Postgres and a Redis of their own, over several jobs one after the other, most of
// which must cost the same. The executor pauses, so that no two notices of a job fall together.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { startNoOpExecutor } from '../../bench/support/no-op-executor.js'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { startLoggedPostgres } from '../support/postgres/statement-log.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'
import {
  type JobStatements,
  type Mode,
  modes,
  type RedisCommand,
  redisOfJobs,
  redisRows,
  statementRows,
  statementsOfJobs,
  tables,
  unitsOf,
  usual
} from './job-work.js'

const PAGE = 'docs/operations/benchmarks.md'
const JOBS = 5
/** Long enough that no two notices fall together, and short enough that an attempt is recorded with its end. */
const EXECUTOR_PAUSE_MS = 50
/** In which the sweeps have made their first pass, and the frequent ones several. */
const IDLE_MS = 6_000
/** From the end of a job to the last statement and call that it causes. */
const AFTERMATH_MS = 300

const shared = { url: process.env.TEST_PG_URL, template: process.env.TEST_TEMPLATE_DB }
let postgres: Awaited<ReturnType<typeof startLoggedPostgres<'api' | 'worker'>>>
let executor: Awaited<ReturnType<typeof startNoOpExecutor>>
let platform: Platform
let redis: Redis
let monitor: Redis
const commands: RedisCommand[] = []

beforeAll(async () => {
  executor = await startNoOpExecutor(EXECUTOR_PAUSE_MS)
  postgres = await startLoggedPostgres('job-cost', ['api', 'worker'])
  Object.assign(process.env, { TEST_PG_URL: postgres.url, TEST_TEMPLATE_DB: postgres.template })
  platform = await startPlatform(
    'job_cost',
    { redis: true, workerSettings: (url) => ({ DATABASE_URL: postgres.as('worker', url) }) },
    (url) => ({ DATABASE_URL: postgres.as('api', url), EXECUTOR_URL: executor.url, RATE_LIMIT_SCALE: '100' })
  )
  redis = new Redis(platform.redisUrl)
  monitor = await redis.monitor()
  monitor.on('monitor', (time: string, words: string[], source: string) => {
    if (source !== 'lua') commands.push({ at: Number(time), words })
  })
}, 240_000)
afterAll(async () => {
  monitor?.disconnect()
  redis?.disconnect()
  await platform?.close()
  await executor?.close()
  await postgres?.remove()
  Object.assign(process.env, { TEST_PG_URL: shared.url, TEST_TEMPLATE_DB: shared.template })
})

/** @returns its id, once it is completed. */
async function run(mode: Mode): Promise<string> {
  const id = await platform.submit(submission({ execution_mode: mode }))
  // Not by the api, whose statements are counted.
  await eventually(
    async () => (await platform.connection.sql`select 1 from jobs where id = ${id} and status = 'completed'`).length > 0
  )
  await sleep(AFTERMATH_MS)
  return id
}

/** @returns the whole log, once a second has passed without a statement about the job. */
async function settled(jobId: string) {
  let before = 0
  return eventually(
    () => {
      const statements = postgres.statements()
      const now = statements.filter(({ parameters }) => parameters.includes(jobId)).length
      const isOver = now === before
      before = now
      return isOver ? statements : null
    },
    { everyMs: 1_000 }
  )
}

test(`a plain job sends the statements, commits and calls that ${PAGE} lists`, async () => {
  await sleep(IDLE_MS)
  const idle = postgres.statements()
  // The first job of a user creates the team.
  const warmUp = [await run('direct'), await run('temporal')]
  const ids: Record<Mode, string[]> = { direct: [], temporal: [] }
  for (const mode of modes) for (let at = 0; at < JOBS; at++) ids[mode].push(await run(mode))

  const all = [...warmUp, ...modes.flatMap((mode) => ids[mode])]
  const logged = await settled(all.at(-1)!)
  const statements = statementsOfJobs(unitsOf(idle), unitsOf(logged.slice(idle.length)), all)
  const calls = redisOfJobs(commands, all)
  const of = <T>(mode: Mode, list: readonly T[]): T[] => ids[mode].map((id) => list[all.indexOf(id)]!)

  // What comes with each job is caused by it; what comes with some is a sweep.
  const unknown = modes.flatMap((mode) => {
    const [first, ...further] = of(mode, statements)
    return [...first!.others].filter((text) => further.every(({ others }) => others.has(text)))
  })
  if (unknown.length > 0)
    throw new Error(`each job also sends what no row of test/bench/job-work.ts describes:\n${unknown.join('\n')}`)
  const counted = tables(
    perMode((mode) => statementRows.map((row) => countOf(of(mode, statements), row))),
    perMode((mode) => redisRows.map((row) => usual(of(mode, calls).map((job) => job.get(row) ?? 0))))
  )
  if (!readFileSync(join(projectRoot, PAGE), 'utf8').includes(`\n${counted}\n`))
    throw new Error(
      `${PAGE} differs from what was counted. If the change is meant, replace its two tables by:\n${counted}`
    )
}, 300_000)

const perMode = <T>(count: (mode: Mode) => T): Record<Mode, T> => ({
  direct: count('direct'),
  temporal: count('temporal')
})

function countOf(jobs: readonly JobStatements[], row: (typeof statementRows)[number]) {
  const counts = jobs.map(({ byRow }) => byRow.get(row) ?? { statements: 0, flushes: 0 })
  const often = {
    statements: usual(counts.map(({ statements }) => statements)),
    flushes: usual(counts.map(({ flushes }) => flushes))
  }
  // The relay and the sweeps help a job that a process has held up for seconds, which costs more.
  const same = counts.filter(({ statements, flushes }) => statements === often.statements && flushes === often.flushes)
  if (!row.coalesced && same.length * 2 <= counts.length)
    throw new Error(`the jobs differ in "${row.what}": ${JSON.stringify(counts)}`)
  return often
}
