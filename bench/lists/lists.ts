// The effect of many jobs: the same requests in turns on two databases, with 10,000 jobs and with 1,000,000, or with the two
// numbers of LISTS_JOBS. The calling team has most of both. Ten million jobs take some 25 GB of disk.
import { Agent, request } from 'undici'
import { grantPlatformAdmin } from '../../db/accounts/accounts.js'
import { submitMany } from '../submit.js'
import type { BenchPlatform, BenchStack } from '../support/bench-stack.js'
import { type SeededJobs, seedJobs } from '../support/seed-jobs.js'
import { median, printTable, quantile } from '../support/table.js'
import { benchSweepsOf, benchVacuum, verdictOf } from './sweeps.js'

const SIZES = (process.env.LISTS_JOBS ?? '10000,1000000').split(',').map(Number)
const WARM_UP = 20
const ROUNDS = 150

interface Case {
  name: string
  path: (seeded: SeededJobs) => string
  /** Makes the request a POST. */
  body?: (seeded: SeededJobs) => Record<string, unknown>
}

const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString()
const list = (name: string, query: (seeded: SeededJobs) => string): Case => ({
  name: `list: ${name}`,
  path: (seeded) => `/api/jobs?limit=50${query(seeded)}`
})

const paidJob = ({ teamId }: SeededJobs) => ({
  circuit: {
    format: 'qasm3',
    payload: 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
  },
  backend: 'marqov-sim',
  team_id: teamId,
  params: { shots: 100 }
})

const cases: Case[] = [
  list('first page', () => ''),
  list('a team', ({ teamId }) => `&team_id=${teamId}`),
  list('a common status', () => '&status=completed'),
  list('a status of 60 jobs', () => '&status=dispatch_failed'),
  list('two statuses, one of them common', () => '&status=dispatch_failed&status=completed'),
  list('a backend of 600 jobs', () => '&backend=ionq-direct-forte-1'),
  list('a common backend and a status', () => '&backend=local&status=failed'),
  list('a month, half a year ago', () => `&created_after=${day(200)}&created_before=${day(170)}`),
  list('cursor, half a year deep', ({ middleId }) => `&cursor=${middleId}`),
  list('offset 5,000', () => '&offset=5000'),
  list('text that many match', () => '&q=bell'),
  list('text without a match', () => '&q=nothing+of+the+kind'),
  list('a whole id', ({ middleId }) => `&q=${middleId}`),
  { name: 'status of a job', path: ({ middleId }) => `/api/jobs/${middleId}/status` },
  { name: 'record of a job', path: ({ middleId }) => `/api/jobs/${middleId}` },
  { name: 'usage of a month', path: ({ teamId }) => `/api/team/usage?team_id=${teamId}` },
  { name: 'budget', path: ({ teamId }) => `/api/team/budget?team_id=${teamId}` },
  { name: 'admin: jobs', path: () => '/api/admin/jobs?limit=50' },
  { name: 'admin: jobs of a status', path: () => '/api/admin/jobs?limit=50&status=failed' },
  { name: 'admin: jobs of a status of 100', path: () => '/api/admin/jobs?limit=50&status=dispatch_failed' },
  { name: 'admin: jobs with a text', path: () => '/api/admin/jobs?limit=50&q=bell' },
  { name: 'admin: jobs with a text without a match', path: () => '/api/admin/jobs?limit=50&q=nothing' },
  { name: 'admin: system', path: () => '/api/admin/system' },
  { name: 'submit with a price', path: () => '/api/jobs/submit', body: paidJob }
]

export async function benchLists(stack: BenchStack): Promise<void> {
  const sides = await Promise.all(
    (['small', 'large'] as const).map(async (name) => {
      const platform = await stack.platform(`bench_lists_${name}`, stack.executors['no-op'])
      await grantPlatformAdmin(platform.connection.db, platform.user.email)
      return platform
    })
  )
  try {
    const seeded: SeededJobs[] = []
    for (const [at, count] of SIZES.entries()) {
      const began = performance.now()
      seeded.push(await seedJobs(sides[at]!, count))
      console.log(`${count} jobs seeded in ${((performance.now() - began) / 1000).toFixed(0)} s`)
    }
    await price(sides)
    const rows: string[][] = []
    for (const one of cases) {
      const times = await inTurns(sides, seeded, one)
      const [small, large] = times.map(median) as [number, number]
      const p99 = quantile(times[1]!, 0.99).toFixed(1)
      rows.push([one.name, small.toFixed(2), large.toFixed(2), p99, verdictOf(large / small)])
    }
    const [few, many] = SIZES.map(numberText)
    printTable(
      `${few} jobs against ${many}`,
      ['request', `p50 ms, ${few}`, `p50 ms, ${many}`, `p99 ms, ${many}`, 'ratio'],
      rows
    )
    await submissions(sides)
    await benchSweepsOf(sides, [few!, many!])
    await benchVacuum(sides, [few!, many!])
  } finally {
    for (const side of sides) await side.close()
  }
}

const numberText = (count: number): string => count.toLocaleString('en')

/** Sets a price, so that a submission checks budgets and writes the ledger. */
async function price(sides: BenchPlatform[]): Promise<void> {
  for (const { connection } of sides)
    await connection.sql`update backends set task_fee_micro = 20000 where slug = 'marqov-sim'`
}

async function inTurns(sides: BenchPlatform[], seeded: SeededJobs[], { name, path, body }: Case): Promise<number[][]> {
  const agent = new Agent({ connections: 1 })
  const times = sides.map((): number[] => [])
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const [at, { base, cookie }] of sides.entries()) {
      const begun = performance.now()
      const answer = await request(`${base}${path(seeded[at]!)}`, {
        dispatcher: agent,
        headers: { cookie, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body(seeded[at]!)) })
      })
      const text = await answer.body.text()
      if (round >= 0) times[at]!.push(performance.now() - begun)
      if (answer.statusCode >= 300) throw new Error(`${name}: ${answer.statusCode} ${text}`)
    }
  await agent.close()
  return times
}

async function submissions(sides: BenchPlatform[]): Promise<void> {
  const rows: string[][] = []
  for (const clients of [1, 10])
    for (const [at, side] of sides.entries()) {
      await submitMany(side, 'direct', clients, 100)
      const { latencies, rate } = await submitMany(side, 'direct', clients, 1_000)
      rows.push([
        numberText(SIZES[at]!),
        String(clients),
        rate.toFixed(0),
        median(latencies).toFixed(1),
        quantile(latencies, 0.99).toFixed(1)
      ])
    }
  printTable('POST /api/jobs/submit, api alone', ['jobs', 'clients', 'submissions/s', 'p50 ms', 'p99 ms'], rows)
}
