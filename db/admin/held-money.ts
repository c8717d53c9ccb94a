// Money of jobs that ended before their cost was known, and of jobs that exceeded their reservation: lists for
// administrators, and their settlement.
import { eq, type SQL, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { HeldJob, MoneyState, OverReservation } from '../../domain/money/held-money.js'
import { type MicroUsd, usdFromMicro } from '../../domain/money/money.js'
import { type AdminActor, recordAdminAction } from '../audit/admin-audit.js'
import type { DbOrTx, Tx } from '../client.js'
import { settleHeld } from '../money/budget.js'
import { endUsageQueries } from '../provider-jobs/pending-usage.js'
import { loadSweeps } from '../service/sweeps.js'
import { jobs } from '../tables/jobs.js'

/** The condition on rows of `jobs` whose money is held: `mayHoldMoney` of domain/jobs/held-job.ts, and no cost yet. */
export const moneyIsHeld = sql`(actual_cost_micro is null and status in ('failed', 'cancelled')
  and case status when 'failed' then error_code = 'provider_outcome_unknown'
    else cancel_outcome = 'provider_unknown' end)`

/**
 * Everything that is reserved for a row of `jobs`: its own reservation, and those of the circuits that it requested.
 */
export const reservedForJob = sql`(select coalesce(sum(amount_micro), 0) from ledger
  where ledger.job_id = jobs.id and ledger.kind = 'reserve')`

/** @param limit the length of each list. */
export async function loadMoney(db: DbOrTx, limit: number): Promise<MoneyState> {
  const [held, over, sweeps] = await Promise.all([heldJobs(db, limit), overReservations(db, limit), loadSweeps(db)])
  return { held, over, proofs: sweeps.filter(({ name }) => name.startsWith('money')) }
}

/** The longest waiting first. @param teamId of all teams without. */
export async function heldJobs(db: DbOrTx, limit: number, teamId?: string): Promise<MoneyState['held']> {
  const here = teamId === undefined ? sql`true` : sql`team_id = ${teamId}`
  const [rows, [all]] = await Promise.all([
    db.execute<Record<string, string | null>>(sql`
      select jobs.id, team_id, teams.name as team_name, jobs.backend, jobs.provider, status, status_reason,
        amount::text as amount, completed_at, task.provider_job_id, task.ask_at
      from jobs join teams on teams.id = team_id, lateral ${reservedForJob} reserved (amount)
      left join lateral (select provider_job_id, ask_at from provider_tasks where job_id = jobs.id
        order by ask_at nulls last, created_at desc limit 1) task on true
      where ${moneyIsHeld} and ${here} and amount > 0
      order by completed_at, jobs.id limit ${limit}`),
    db.execute<{ jobs: number; amount: string }>(sql`select count(*)::int as jobs,
      coalesce(sum(amount), 0)::text as amount from jobs, lateral ${reservedForJob} reserved (amount)
      where ${moneyIsHeld} and ${here} and amount > 0`)
  ])
  return {
    rows: rows.map((row) => ({
      jobId: row.id!,
      teamId: row.team_id!,
      teamName: row.team_name!,
      backend: row.backend!,
      provider: row.provider!,
      providerJobId: row.provider_job_id ?? null,
      status: row.status as HeldJob['status'],
      reason: row.status_reason ?? null,
      amount: BigInt(row.amount!),
      since: new Date(row.completed_at!),
      asksAt: row.ask_at ? new Date(row.ask_at) : null
    })),
    jobs: all!.jobs,
    amount: BigInt(all!.amount)
  }
}

/**
 * Jobs that cost more than was reserved for them: `job_id`, `team_id`, `at` (when that was booked), `reserved` and `spent`.
 * @param since a condition on entries of the ledger.
 */
export const jobsAboveReservation = (since: SQL) => sql`(
  select raised.*, reserved, spent from (
    select job_id, team_id, max(at) as at from (
      select job_id, team_id, at from ledger where kind = 'release' and amount_micro < 0 and ${since}
      union all select job_id, team_id, at from ledger where kind = 'adjust' and amount_micro > 0 and ${since}) entries
    group by job_id, team_id) raised,
  lateral (select coalesce(sum(amount_micro) filter (where kind = 'reserve'), 0) as reserved,
      coalesce(sum(amount_micro) filter (where kind in ('settle', 'adjust')), 0) as spent
    from ledger where ledger.job_id = raised.job_id) books
  where spent > reserved)`

/** Newest first. */
async function overReservations(db: DbOrTx, limit: number): Promise<OverReservation[]> {
  const rows = await db.execute<Record<string, string>>(sql`
    select over.job_id, over.team_id, teams.name as team_name, jobs.backend, over.spent::text as settled,
      over.reserved::text as reserved, over.at
    from ${jobsAboveReservation(sql`true`)} over
      join teams on teams.id = over.team_id
      join jobs on jobs.id = over.job_id
    order by over.at desc limit ${limit}`)
  return rows.map((row) => ({
    jobId: row.job_id!,
    teamId: row.team_id!,
    teamName: row.team_name!,
    backend: row.backend!,
    reserved: BigInt(row.reserved!),
    settled: BigInt(row.settled!),
    at: new Date(row.at!)
  }))
}

/**
 * Settles a held job with the cost that an administrator states. Must run in a transaction.
 * @throws ServiceError `not_found`; `conflict` when its money is not held.
 */
export async function settleByAdministrator(
  tx: Tx,
  actor: AdminActor,
  jobId: string,
  { cost, note }: { cost: MicroUsd; note: string }
): Promise<void> {
  if ((await settleHeld(tx, jobId, cost)) === 'already')
    throw new ServiceError('conflict', 'this job was settled before, with the same figure')
  await endUsageQueries(tx, jobId)
  const [job] = await tx
    .select({ teamId: jobs.teamId, held: reservedForJob.mapWith(BigInt) })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  await recordAdminAction(tx, actor, 'job.settle', jobId, {
    team_id: job!.teamId,
    held_usd: usdFromMicro(job!.held),
    cost_usd: usdFromMicro(cost),
    note
  })
}
