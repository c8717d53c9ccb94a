// The counters of a team's day and month and of a key's day. They change in the transaction that writes the ledger row of
// the change, the key's day before the day, and the day before the month.
import { and, eq, sql } from 'drizzle-orm'
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
