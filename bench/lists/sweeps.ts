// What the sweeps of a worker and a vacuum cost with many jobs: the same statements in turns on both databases, as a worker
// that has little to do makes them all day.
import postgres from 'postgres'
import type { Db } from '../../db/client.js'
import { movingContents, unmovedContents } from '../../db/contents/content-rows.js'
import { limitedContents, removeDue } from '../../db/deletion/content-retention.js'
import { removeOutdated } from '../../db/deletion/retention.js'
import { sweepExpiredLeases } from '../../db/job-steps/leases.js'
import { takeDue } from '../../db/job-steps/outbox.js'
import { quietJobs } from '../../db/job-steps/stalled-workflows.js'
import { releaseDeferred } from '../../db/jobs/deferred-starts.js'
import { sumUsage } from '../../db/money/usage.js'
import { proveAll, proveRecent } from '../../db/proofs/money-proof.js'
import { proveStorage } from '../../db/proofs/storage-proof.js'
import { takePendingUsage } from '../../db/provider-jobs/pending-usage.js'
import { takeHeldProviderJobs } from '../../db/provider-jobs/provider-money.js'
import { sumStorage } from '../../db/teams/team-storage.js'
import type { SweepName } from '../../domain/operations/sweep.js'
import { noFailures, throwFailure } from '../../test/support/failures.js'
import { submitMany, untilAllAreFinal } from '../submit.js'
import type { BenchPlatform } from '../support/bench-stack.js'
import { median, printTable } from '../support/table.js'

const ROUNDS = 30
/** The largest acceptable ratio to the small database. */
const GOAL = 1.2
/** Ended before and during the vacuum. */
const JOBS = 3_000
const CLIENTS = 10
const WARM_UP = 200
const PROOF_MS = 600_000
/** The daily proof of the whole ledger, among the sweeps. */
const PROOF: SweepName = 'money_in_full'

const page = { except: [], max: 20 }
/** Nothing is that old, so a look removes nothing. */
const kept = { results: 400, task_values: null, output: null }

interface Sweep {
  name: string
  act(db: Db): Promise<unknown>
  /** Default: `ROUNDS`. */
  rounds?: number
}

const sweeps: Sweep[] = [
  { name: 'leases', act: (db) => sweepExpiredLeases(db, 100, noFailures) },
  { name: 'stalled workflows', act: (db) => quietJobs(db, 60, 100) },
  { name: 'relay: due messages', act: (db) => takeDue(db, 'direct', 100, 1_000) },
  { name: 'deferred starts', act: (db) => releaseDeferred(db, 1_000) },
  { name: 'held money', act: (db) => takeHeldProviderJobs(db, 20) },
  { name: 'pending usage', act: (db) => takePendingUsage(db, 20) },
  { name: 'usage', act: sumUsage },
  { name: 'storage', act: sumStorage },
  { name: 'retention', act: (db) => removeOutdated(db, throwFailure) },
  { name: 'retention of contents', act: lookAtContents },
  { name: 'content store: unmoved', act: (db) => unmovedContents(db, 'artifacts', { settledSeconds: 3_600, ...page }) },
  { name: 'content store: in both places', act: (db) => movingContents(db, 'artifacts', { seconds: 600, ...page }) },
  { name: 'money, open and recent', act: proveRecent },
  { name: 'money in full, in slices', act: (db) => proveAll(db), rounds: 1 },
  { name: 'storage in full', act: proveStorage, rounds: 1 }
]

/** Of as many teams on both sides. */
async function lookAtContents(db: Db): Promise<void> {
  const { contents } = await limitedContents(db, kept, { after: null, max: 20 })
  for (const content of contents) await removeDue(db, content, content.mark)
}

/** @param sides platforms without a worker, the small one first. @param names of the sizes. */
export async function benchSweepsOf(sides: BenchPlatform[], names: string[]): Promise<void> {
  const rows: string[][] = []
  for (const { name, act, rounds = ROUNDS } of sweeps) {
    const times = sides.map((): number[] => [])
    for (let round = rounds === 1 ? 0 : -3; round < rounds; round++)
      for (const [at, { connection }] of sides.entries()) {
        const began = performance.now()
        await act(connection.db)
        if (round >= 0) times[at]!.push(performance.now() - began)
      }
    const [small, large] = times.map(median) as [number, number]
    rows.push([name, small.toFixed(2), large.toFixed(2), verdictOf(large / small)])
  }
  const figures = names.map((name) => `ms, ${name}`)
  printTable('Sweeps that find nothing to do; proofs read everything', ['sweep', ...figures, 'ratio'], rows)
}

const vacuumed = ['jobs', 'job_events', 'attempts', 'outbox', 'storage_entries', 'usage_entries']

/** A vacuum of each table that a job changes, while jobs are submitted and end. */
export async function benchVacuum(sides: BenchPlatform[], names: string[]): Promise<void> {
  const rows: string[][] = []
  for (const [at, side] of sides.entries()) {
    const worker = await side.startWorker()
    // Due at once in a new database; otherwise once a day.
    await untilProved(side)
    await submitMany(side, 'direct', CLIENTS, WARM_UP)
    await untilAllAreFinal(side)
    const ending = submitMany(side, 'direct', CLIENTS, JOBS)
    const seconds: string[] = []
    let rate = 0
    // Without the time limit of the service's own statements.
    const sql = postgres(side.settings.DATABASE_URL!, { max: 1, onnotice: () => {} })
    await Promise.all([
      ending.then((done) => {
        rate = done.rate
      }),
      (async () => {
        for (const table of vacuumed) {
          const began = performance.now()
          await sql.unsafe(`vacuum ${table}`)
          seconds.push(((performance.now() - began) / 1_000).toFixed(2))
        }
      })()
    ])
    await sql.end()
    await untilAllAreFinal(side)
    await worker.stop()
    rows.push([names[at]!, rate.toFixed(0), ...seconds])
  }
  printTable(
    'Vacuum while jobs are submitted and end',
    ['jobs', 'submissions/s', ...vacuumed.map((t) => `${t}, s`)],
    rows
  )
}

async function untilProved({ connection }: BenchPlatform): Promise<void> {
  const deadline = performance.now() + PROOF_MS
  while (performance.now() < deadline) {
    const rows = await connection.sql`select 1 from sweeps where name = ${PROOF} and succeeded_at is not null`
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the money was not proved in time')
}

/** @param ratio of the large database to the small one. */
export const verdictOf = (ratio: number): string =>
  `${ratio.toFixed(2)} (goal ${GOAL}: ${ratio <= GOAL ? 'reached' : 'missed'})`
