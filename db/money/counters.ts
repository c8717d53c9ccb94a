// The counters of a team's day and month and of a key's day. They change in the transaction that writes the ledger row of
// the change, the key's day before the day, and the day before the month.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type PeriodCounter, periodsOf } from '../../domain/money/budget.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Tx } from '../client.js'
import { budgetCounters } from '../tables/budgets.js'
import { jobs } from '../tables/jobs.js'
import { apiKeyDays, apiKeys } from '../tables/teams.js'

/** The team and day of a job that reserved nothing. */
export async function startOf(tx: Tx, jobId: string): Promise<{ teamId: string; day: string }> {
  const [job] = await tx
    .select({ teamId: jobs.teamId, notBefore: jobs.notBefore, createdAt: jobs.createdAt })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  if (!job) throw new Error(`job ${jobId} does not exist, and nothing is reserved for it`)
  return { teamId: job.teamId, day: periodsOf(job.notBefore ?? job.createdAt).day }
}

/** The daily counter of the key that submitted the job. A key without a limit of its own has none. */
export async function moveKeyDay(
  tx: Tx,
  jobId: string,
  move: { day: string; reserved: MicroUsd; spent: MicroUsd }
): Promise<void> {
  await tx
    .update(apiKeyDays)
    .set({
      reserved: sql`${apiKeyDays.reserved} + ${move.reserved}`,
      spent: sql`${apiKeyDays.spent} + ${move.spent}`
    })
    .where(
      and(
        eq(apiKeyDays.keyId, sql`(select ${jobs.apiKeyId} from ${jobs} where ${jobs.id} = ${jobId})`),
        eq(apiKeyDays.day, move.day)
      )
    )
}

/** For the key that submitted the job, if it has a limit of its own. */
export async function makeKeyDay(tx: Tx, jobId: string, day: string): Promise<void> {
  await tx.execute(sql`insert into ${apiKeyDays} (key_id, day, spent_micro, reserved_micro)
    select ${apiKeys.id}, ${day}::date, 0, 0 from ${jobs} join ${apiKeys} on ${apiKeys.id} = ${jobs.apiKeyId}
    where ${jobs.id} = ${jobId} and ${apiKeys.dailyLimit} is not null on conflict do nothing`)
}

/**
 * Raises what is reserved on a team's day and in its month.
 * @returns the counters before, locked until the transaction ends. Where a limit forbids the rise, the caller rolls back.
 */
export async function raiseReserved(
  tx: Tx,
  teamId: string,
  { day, month }: { day: string; month: string },
  amount: MicroUsd
): Promise<{ day: PeriodCounter; month: PeriodCounter }> {
  const raised = (period: 'day' | 'month', startsOn: string, after: SQL) =>
    sql`insert into ${budgetCounters} as counter (team_id, period, starts_on, spent_micro, reserved_micro)
      select ${teamId}::uuid, ${period}, ${startsOn}::date, 0, ${amount}::bigint ${after}
      on conflict (team_id, period, starts_on)
        do update set reserved_micro = counter.reserved_micro + excluded.reserved_micro
      returning spent_micro, reserved_micro`
  // One statement, since other jobs of the team wait for its locks. The month reads from the day, and so is locked after it.
  const [row] = await tx.execute<Record<'day_spent' | 'day_reserved' | 'month_spent' | 'month_reserved', string>>(sql`
    with day as (${raised('day', day, sql.empty())}), month as (${raised('month', month, sql`from day`)})
    select day.spent_micro as day_spent, day.reserved_micro as day_reserved,
      month.spent_micro as month_spent, month.reserved_micro as month_reserved from day, month`)
  const before = (spent: string, reserved: string): PeriodCounter => ({
    spent: BigInt(spent),
    reserved: BigInt(reserved) - amount
  })
  const { day_spent, day_reserved, month_spent, month_reserved } = row!
  return { day: before(day_spent, day_reserved), month: before(month_spent, month_reserved) }
}

/** The counter, locked until the transaction ends. The statement inserts the row if it is missing. */
export async function lockCounter(
  tx: Tx,
  teamId: string,
  period: 'day' | 'month',
  startsOn: string
): Promise<PeriodCounter> {
  const [row] = await tx
    .insert(budgetCounters)
    .values({ teamId, period, startsOn, spent: 0n, reserved: 0n })
    .onConflictDoUpdate({
      target: [budgetCounters.teamId, budgetCounters.period, budgetCounters.startsOn],
      set: { spent: sql`${budgetCounters.spent}` }
    })
    .returning({ spent: budgetCounters.spent, reserved: budgetCounters.reserved })
  return row!
}

export async function moveCounter(
  tx: Tx,
  move: { teamId: string; period: 'day' | 'month'; startsOn: string; reserved: MicroUsd; spent: MicroUsd }
): Promise<void> {
  await tx
    .update(budgetCounters)
    .set({
      reserved: sql`${budgetCounters.reserved} + ${move.reserved}`,
      spent: sql`${budgetCounters.spent} + ${move.spent}`
    })
    .where(
      and(
        eq(budgetCounters.teamId, move.teamId),
        eq(budgetCounters.period, move.period),
        eq(budgetCounters.startsOn, move.startsOn)
      )
    )
}
