// Money of jobs that ended before their cost was known, and of jobs that exceeded their reservation: lists for
// administrators, and their settlement.
import { eq, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { HeldJob, MoneyState, OverReservation } from '../../domain/money/held-money.js'
import { type MicroUsd, usdFromMicro } from '../../domain/money/money.js'
import { type AdminActor, recordAdminAction } from '../audit/admin-audit.js'
import type { DbOrTx, Tx } from '../client.js'
import { settleHeld } from '../money/budget.js'
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

/** The longest waiting first. */
async function heldJobs(db: DbOrTx, limit: number): Promise<MoneyState['held']> {
  const [rows, [all]] = await Promise.all([
    db.execute<Record<string, string | null>>(sql`
      select jobs.id, team_id, teams.name as team_name, jobs.backend, jobs.provider, status, status_reason,
        amount::text as amount, completed_at, task.provider_job_id, task.ask_at
      from jobs join teams on teams.id = team_id, lateral ${reservedForJob} reserved (amount)
      left join lateral (select provider_job_id, ask_at from provider_tasks where job_id = jobs.id
        order by ask_at nulls last, created_at desc limit 1) task on true
      where ${moneyIsHeld} and amount > 0
      order by completed_at, jobs.id limit ${limit}`),
    db.execute<{ jobs: number; amount: string }>(sql`select count(*)::int as jobs,
      coalesce(sum(amount), 0)::text as amount from jobs, lateral ${reservedForJob} reserved (amount)
      where ${moneyIsHeld} and amount > 0`)
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

/** Newest first. */
async function overReservations(db: DbOrTx, limit: number): Promise<OverReservation[]> {
  const rows = await db.execute<Record<string, string>>(sql`
    select over.job_id, over.team_id, teams.name as team_name, jobs.backend, settle.amount_micro::text as settled,
      (settle.amount_micro + over.amount_micro)::text as reserved, over.at
    from ledger over
      join ledger settle on settle.job_id = over.job_id and settle.task = over.task and settle.attempt = over.attempt
        and settle.kind = 'settle'
      join teams on teams.id = over.team_id
      join jobs on jobs.id = over.job_id
    where over.kind = 'release' and over.amount_micro < 0
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
