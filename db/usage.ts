// What a team ran and spent, by UTC day and backend. Money comes from the ledger alone; a job counts on the day to which its
// reservation belongs: of its not_before, else of its submission.
import { and, eq, gte, inArray, lte, sql } from 'drizzle-orm'
import type { MicroUsd } from '../domain/money.js'
import type { Month } from '../domain/month.js'
import type { DbOrTx } from './client.js'
import { firstIdAt } from './ids.js'
import { backends } from './tables/backends.js'
import { ledger } from './tables/budgets.js'
import { jobs } from './tables/jobs.js'

export interface UsageLine {
  day: string
  backend: string
  name: string
  provider: string
  /** Jobs that began to run. */
  jobs: number
  shots: number
  spend: MicroUsd
}

const DAY_MS = 86_400_000
/** A job may be submitted so many days before its start. */
const AHEAD_DAYS = 31

/** One line for each day and backend that has anything, in the order of days. */
export async function usageOf(db: DbOrTx, teamId: string, month: Month): Promise<UsageLine[]> {
  const first = Date.parse(`${month.start}T00:00:00Z`)
  const day = sql<string>`to_char(coalesce(${jobs.notBefore}, ${jobs.createdAt}) at time zone 'UTC', 'YYYY-MM-DD')`
  const spent = db
    .select({
      jobId: ledger.jobId,
      amount: sql`sum(${ledger.amount})`.as('amount')
    })
    .from(ledger)
    .where(
      and(
        eq(ledger.teamId, teamId),
        inArray(ledger.kind, ['settle', 'adjust']),
        gte(ledger.day, month.start),
        lte(ledger.day, month.end)
      )
    )
    .groupBy(ledger.jobId)
    .as('spent')
  const lines = await db
    .select({
      day,
      backend: jobs.backend,
      name: sql<string>`coalesce(max(${backends.name}), ${jobs.backend})`,
      provider: jobs.provider,
      jobs: sql<number>`count(*) filter (where ${jobs.startedAt} is not null)::int`,
      shots: sql<string>`coalesce(sum(${jobs.shots}) filter (where ${jobs.startedAt} is not null), 0)::text`,
      spend: sql<string>`coalesce(sum(${spent.amount}), 0)::text`
    })
    .from(jobs)
    .leftJoin(spent, eq(spent.jobId, jobs.id))
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .where(
      and(
        eq(jobs.teamId, teamId),
        // Ids sort by time: the index on them keeps a year of jobs out of the way.
        gte(jobs.id, firstIdAt(new Date(Math.max(0, first - AHEAD_DAYS * DAY_MS)))),
        sql`${day} between ${month.start} and ${month.end}`
      )
    )
    .groupBy(day, jobs.backend, jobs.provider)
    .orderBy(day, jobs.backend)
  return lines
    .map((line) => ({ ...line, shots: Number(line.shots), spend: BigInt(line.spend) }))
    .filter((line) => line.jobs > 0 || line.spend !== 0n)
}

/** All that was spent in a month. */
export async function spendOf(db: DbOrTx, teamId: string, month: Month): Promise<MicroUsd> {
  const [row] = await db
    .select({ spend: sql<string>`coalesce(sum(${ledger.amount}), 0)::text` })
    .from(ledger)
    .where(
      and(
        eq(ledger.teamId, teamId),
        inArray(ledger.kind, ['settle', 'adjust']),
        gte(ledger.day, month.start),
        lte(ledger.day, month.end)
      )
    )
  return BigInt(row!.spend)
}
