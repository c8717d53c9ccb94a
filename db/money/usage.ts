// What a team ran and spent, by UTC day and backend. A job counts on the day of its reservation (its not_before, or
// else its submission) once it has started. Read from sums, so that the cost of a month does not grow with its jobs:
// triggers write entries (db/tables/budgets.ts), and a sweep adds them to the sums.
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
  /** Jobs that started. */
  jobs: number
  shots: number
  spend: MicroUsd
}

const inMonth = (teamId: string, month: Month) =>
  sql`team_id = ${teamId} and day between ${month.start}::date and ${month.end}::date`

const figures = sql`team_id, day, backend, provider, jobs, shots, spent_micro`

/** One line for each day and backend with any usage, in the order of days. */
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
      from (select ${figures} from ${usageDays} where ${inMonth(teamId, month)}
        union all select ${figures} from ${usageEntries} where ${inMonth(teamId, month)}) figures
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

/** Everything that was spent in a month. */
export async function spendOf(db: DbOrTx, teamId: string, month: Month): Promise<MicroUsd> {
  const [row] = await db.execute<{ spend: string }>(sql`
    select coalesce(sum(spent_micro), 0)::text as spend
    from (select spent_micro from ${usageDays} where ${inMonth(teamId, month)}
      union all select spent_micro from ${usageEntries} where ${inMonth(teamId, month)}) figures`)
  return BigInt(row!.spend)
}

/** What was spent in each month from `first` to `last`, by its name; months without usage are absent. */
export async function monthlySpend(
  db: DbOrTx,
  teamId: string,
  first: Month,
  last: Month
): Promise<Map<string, MicroUsd>> {
  const span = sql`team_id = ${teamId} and day between ${first.start}::date and ${last.end}::date`
  const rows = await db.execute<{ month: string; spend: string }>(sql`
    select to_char(day, 'YYYY-MM') as month, sum(spent_micro)::text as spend
    from (select day, spent_micro from ${usageDays} where ${span}
      union all select day, spent_micro from ${usageEntries} where ${span}) figures
    group by 1`)
  return new Map(rows.map(({ month, spend }) => [month, BigInt(spend)]))
}

/** How many entries one statement adds to the sums. */
const AT_ONCE = 5_000
/** Any number that no other advisory lock of this product uses. */
const USAGE_LOCK = 7_261_101

/**
 * Adds entries to the sums. Concurrent readers see each entry in exactly one of the two places. Only one worker at a
 * time: two that raise the same sums in different orders could deadlock.
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
