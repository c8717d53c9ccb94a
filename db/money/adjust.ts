// Corrects what a job was settled with, once the cost of one of its provider jobs is known.
import { eq, sql } from 'drizzle-orm'
import { periodsOf } from '../../domain/money/budget.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Tx } from '../client.js'
import { ledger } from '../tables/budgets.js'
import { jobs } from '../tables/jobs.js'
import { capsuleOfJob, makeCapsuleBudget, moveCapsuleBudget } from './capsule-budget.js'
import { lockCounter, makeKeyDay, moveCounter, moveKeyDay, startOf } from './counters.js'

/**
 * Books a difference on the day of the job's settlement, whatever day it is now, and counts it as its cost. The caller has
 * locked the settled job.
 * @param difference negative when less was spent than booked.
 * @throws when the ledger has an entry for this provider job already.
 */
export async function adjust(
  tx: Tx,
  { jobId, task, attempt }: { jobId: string; task: string; attempt: number },
  difference: MicroUsd
): Promise<void> {
  if (difference === 0n) return
  const { teamId, day } = await bookedOn(tx, jobId)
  await tx.insert(ledger).values({ teamId, jobId, task, attempt, kind: 'adjust', amount: difference, day })
  const spent = { reserved: 0n, spent: difference }
  // A job that reserved nothing and was settled with nothing has no counters yet.
  const capsuleId = await capsuleOfJob(tx, jobId)
  if (capsuleId) {
    await makeCapsuleBudget(tx, capsuleId)
    await moveCapsuleBudget(tx, capsuleId, spent)
  }
  await makeKeyDay(tx, jobId, day)
  await moveKeyDay(tx, jobId, { day, ...spent })
  const { month } = periodsOf(new Date(`${day}T00:00:00Z`))
  for (const [period, startsOn] of [
    ['day', day],
    ['month', month]
  ] as const) {
    await lockCounter(tx, teamId, period, startsOn)
    await moveCounter(tx, { teamId, period, startsOn, ...spent })
  }
  await tx
    .update(jobs)
    .set({ actualCost: sql`${jobs.actualCost} + ${difference}`, updatedAt: sql`clock_timestamp()` })
    .where(eq(jobs.id, jobId))
}

/** All entries of a job are on the same day. */
async function bookedOn(tx: Tx, jobId: string): Promise<{ teamId: string; day: string }> {
  const [entry] = await tx
    .select({ teamId: ledger.teamId, day: ledger.day })
    .from(ledger)
    .where(eq(ledger.jobId, jobId))
    .limit(1)
  return entry ?? startOf(tx, jobId)
}
