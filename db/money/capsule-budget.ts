// What all runs of a capsule have spent and reserved, against its `max_budget_usd`. The counter changes in the
// transaction that writes the ledger row of one of its jobs, and is locked before the counters of key, day and month.
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { CapsuleCounter } from '../../domain/money/budget.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Tx } from '../client.js'
import { capsuleBudgets, capsules } from '../tables/capsules.js'
import { jobs } from '../tables/jobs.js'

/** The counter, locked until the transaction ends. The statement inserts the row if it is missing. */
export async function lockCapsuleBudget(tx: Tx, capsuleId: string): Promise<CapsuleCounter> {
  const [row] = await tx
    .insert(capsuleBudgets)
    .values({ capsuleId, spent: 0n, reserved: 0n })
    .onConflictDoUpdate({ target: capsuleBudgets.capsuleId, set: { spent: sql`${capsuleBudgets.spent}` } })
    .returning({ spent: capsuleBudgets.spent, reserved: capsuleBudgets.reserved })
  const [capsule] = await tx.select({ max: capsules.maxBudget }).from(capsules).where(eq(capsules.id, capsuleId))
  return { ...row!, max: capsule!.max }
}

/** A deleted capsule has no counter. Its jobs still settle for their team. */
export async function moveCapsuleBudget(
  tx: Tx,
  capsuleId: string,
  move: { reserved: MicroUsd; spent: MicroUsd }
): Promise<void> {
  await tx
    .update(capsuleBudgets)
    .set({
      reserved: sql`${capsuleBudgets.reserved} + ${move.reserved}`,
      spent: sql`${capsuleBudgets.spent} + ${move.spent}`
    })
    .where(eq(capsuleBudgets.capsuleId, capsuleId))
}

/** For a job that reserved nothing and was charged for. */
export async function makeCapsuleBudget(tx: Tx, capsuleId: string): Promise<void> {
  await tx.execute(sql`insert into ${capsuleBudgets} (capsule_id, spent_micro, reserved_micro)
    select id, 0, 0 from ${capsules} where id = ${capsuleId} on conflict do nothing`)
}

/** The capsule whose run created the job; `null` for any other job, and when the capsule was deleted. */
export async function capsuleOfJob(tx: Tx, jobId: string): Promise<string | null> {
  const [row] = await tx
    .select({ capsuleId: capsules.id })
    .from(jobs)
    .innerJoin(capsules, eq(capsules.id, jobs.capsuleId))
    .where(and(eq(jobs.id, jobId), isNotNull(jobs.capsuleRunId)))
  return row?.capsuleId ?? null
}
