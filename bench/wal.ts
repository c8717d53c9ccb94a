// The bytes that a plain job writes to Postgres' log (WAL), by table and index, as pg_walinspect reads them: in a database
// without other jobs, and for a team with many, where the first change of a page after a checkpoint writes the whole page.
import { submissionBody, submitMany, untilAllAreFinal } from './submit.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { seedJobs } from './support/seed-jobs.js'
import { printTable } from './support/table.js'

const SEEDED_JOBS = Number(process.env.WAL_JOBS ?? 300_000)
const WARM_UP_JOBS = 100
const JOBS = 1_000
const CLIENTS = 10
/** Postgres' own tables: their first readers, and analyses, write more of them in a new database than jobs do. Left out. */
const CATALOGS = 'catalogs'
/** Tables and indexes with fewer bytes a job are one row. */
const MIN_BYTES = 20

/** Of one relation. */
interface Written {
  relation: string
  bytes: number
  /** Of them, images of whole pages. */
  images: number
}

type Connection = BenchPlatform['connection']

/** The end of the log so far, as Postgres writes a position in it. */
export async function logEnd({ sql }: Connection): Promise<string> {
  const [row] = await sql<{ lsn: string }[]>`select pg_current_wal_flush_lsn()::text as lsn`
  return row!.lsn
}

/** @returns the bytes of the log between a position and its end. */
export async function bytesSince({ sql }: Connection, begin: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), ${begin}::pg_lsn)::float8 as bytes`
  return row!.bytes
}

export async function benchWal(stack: BenchStack): Promise<void> {
  for (const mode of ['direct', 'temporal'])
    for (const seeded of [0, SEEDED_JOBS]) {
      const platform = await stack.platform(`bench_wal_${mode}_${seeded}`, stack.executors['no-op'])
      try {
        const team = seeded > 0 ? { team_id: (await seedJobs(platform, seeded)).teamId } : {}
        await platform.startWorker()
        const runMore = async (jobs: number) => {
          await submitMany(platform, mode, CLIENTS, jobs, submissionBody(mode, team))
          await untilAllAreFinal(platform)
        }
        await runMore(WARM_UP_JOBS)
        printWritten(`${mode}, ${seeded} other jobs`, await writtenBy(platform.connection, () => runMore(JOBS)))
      } finally {
        await platform.close()
      }
    }
}

async function writtenBy(connection: Connection, act: () => Promise<void>): Promise<Written[]> {
  const { sql } = connection
  await sql`create extension pg_walinspect`
  await sql`checkpoint`
  const begin = await logEnd(connection)
  await act()
  const all = await bytesSince(connection, begin)
  // A record can change several pages, which share its bytes here.
  const rows = await sql<Written[]>`
    select case when relation.oid is null or relation.relnamespace = 'pg_catalog'::regnamespace then ${CATALOGS}
        else coalesce(toasted.relname || ' (toast)', relation.relname) end as relation,
      sum(bytes)::float8 as bytes, sum(block_fpi_length)::float8 as images
    from (select *, record_length::float8 / count(*) over (partition by start_lsn) as bytes
        from pg_get_wal_block_info(${begin}::pg_lsn, pg_current_wal_flush_lsn(), false)) changes
      left join pg_class relation on relation.relfilenode = changes.relfilenode
      left join pg_index on indexrelid = relation.oid
      left join pg_class toasted on toasted.reltoastrelid = coalesce(indrelid, relation.oid)
    group by 1`
  const ofPages = rows.reduce((sum, { bytes }) => sum + bytes, 0)
  const others = rows.filter(({ relation }) => relation !== CATALOGS)
  return [{ relation: 'commits and locks', bytes: all - ofPages, images: 0 }, ...others]
}

function printWritten(title: string, rows: Written[]): void {
  const perJob = rows
    .map(({ relation, bytes, images }) => ({ relation, bytes: bytes / JOBS, images: images / JOBS }))
    .sort((a, b) => b.bytes - a.bytes)
  const sum = (name: string, of: Written[]): Written => ({
    relation: name,
    bytes: of.reduce((total, { bytes }) => total + bytes, 0),
    images: of.reduce((total, { images }) => total + images, 0)
  })
  const large = perJob.filter(({ bytes }) => bytes >= MIN_BYTES)
  const small = perJob.filter(({ bytes }) => bytes < MIN_BYTES)
  printTable(
    `Bytes in Postgres' log for a job: ${title}`,
    ['table or index', 'bytes', 'of them page images'],
    [...large, sum('all others', small), sum('all', perJob)].map(({ relation, bytes, images }) => [
      relation,
      bytes.toFixed(0),
      images.toFixed(0)
    ])
  )
}
