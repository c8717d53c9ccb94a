// What a team ran and spent, by UTC day and backend: the day to which a job's reservation belongs, of its not_before, else
// of its submission. A job counts once it began to run. Read from sums, so that a month costs the same however many jobs
// it had; triggers write what comes (db/tables/budgets.ts), a sweep adds it to the sums.
import { sql } from 'drizzle-orm'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Month } from '../../domain/money/month.js'
import type { Db, DbOrTx } from '../client.js'
import { backends } from '../tables/backends.js'
import { usageDays, usageEntries } from '../tables/budgets.js'

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

const of = (teamId: string, month: Month) =>
  sql`team_id = ${teamId} and day between ${month.start}::date and ${month.end}::date`

const figures = sql`team_id, day, backend, provider, jobs, shots, spent_micro`

/** One line for each day and backend that has anything, in the order of days. */
export async function usageOf(db: DbOrTx, teamId: string, month: Month): Promise<UsageLine[]> {
  const lines = await db.execute<{
    day: string
    backend: string
    provider: string
    name: string | null
    jobs: number
    shots: string
    spend: string
  }>(sql`
    select used.*, (select name from ${backends} where slug = used.backend) as name from (
      select to_char(day, 'YYYY-MM-DD') as day, backend, provider, sum(jobs)::int as jobs, sum(shots)::text as shots,
        sum(spent_micro)::text as spend
      from (select ${figures} from ${usageDays} where ${of(teamId, month)}
        union all select ${figures} from ${usageEntries} where ${of(teamId, month)}) figures
      group by day, backend, provider) used
    where jobs > 0 or spend <> '0'
    order by day, backend, provider`)
  return lines.map((line) => ({
    ...line,
    name: line.name ?? line.backend,
    shots: Number(line.shots),
    spend: BigInt(line.spend)
  }))
}

/** All that was spent in a month. */
export async function spendOf(db: DbOrTx, teamId: string, month: Month): Promise<MicroUsd> {
  const [row] = await db.execute<{ spend: string }>(sql`
    select coalesce(sum(spent_micro), 0)::text as spend
    from (select spent_micro from ${usageDays} where ${of(teamId, month)}
      union all select spent_micro from ${usageEntries} where ${of(teamId, month)}) figures`)
  return BigInt(row!.spend)
}

/** Entries that are added to the sums in one statement. */
const AT_ONCE = 5_000
/** Any number that no other advisory lock of this product uses. */
const USAGE_LOCK = 7_261_101

/**
 * Adds entries to the sums; whoever reads meanwhile sees them in the one place or in the other. One worker at a time: two
 * that raise the same sums in another order would wait for each other.
 * @returns how many entries were added, and whether there may be more.
 */
export async function sumUsage(db: Db): Promise<{ summed: number; more: boolean }> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.execute(sql`select pg_try_advisory_xact_lock(${USAGE_LOCK}) as taken`)
    if (!lock!.taken) return { summed: 0, more: false }
    const [done] = await tx.execute<{ summed: number }>(sql`
      with taken as (delete from ${usageEntries} where ctid = any(array(select ctid from ${usageEntries} limit ${AT_ONCE}))
          returning ${figures}),
        raised as (insert into ${usageDays} (${figures})
          select team_id, day, backend, provider, sum(jobs), sum(shots), sum(spent_micro) from taken group by 1, 2, 3, 4
          on conflict (team_id, day, backend, provider) do update set jobs = usage_days.jobs + excluded.jobs,
            shots = usage_days.shots + excluded.shots, spent_micro = usage_days.spent_micro + excluded.spent_micro)
      select count(*)::int as summed from taken`)
    const { summed } = done!
    return { summed, more: summed === AT_ONCE }
  })
}
