// Reserves, settles and releases money. The counters of a team's day and month change conditionally, in the transaction
// that also writes the ledger row of the change. A capsule's counter always comes before the day and the day before the
// month, so that every transaction locks them in this order. Ledger and counters are equal at all times. An amount of
// zero changes neither.
import { and, eq, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { assertMoneyHeld, mayHoldMoney } from '../../domain/jobs/held-job.js'
import {
  type BudgetLimits,
  type BudgetRefusal,
  budgetError,
  checkCapsule,
  checkKeyDay,
  checkOwnCap,
  checkPeriod,
  checkPerJob,
  checkPerSuite,
  defaultCeilings,
  defaultLimits,
  nothingSpent,
  type PeriodCounter,
  periodsOf
} from '../../domain/money/budget.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { DbOrTx, Tx } from '../client.js'
import { budgetCounters, ledger, teamBudgets } from '../tables/budgets.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { apiKeyDays, apiKeys } from '../tables/teams.js'
import { capsuleOfJob, lockCapsuleBudget, makeCapsuleBudget, moveCapsuleBudget } from './capsule-budget.js'
import { lockCounter, makeKeyDay, moveCounter, moveKeyDay, raiseReserved, startOf } from './counters.js'

export interface TeamBudget {
  limits: BudgetLimits
  ceilings: BudgetLimits
}

export async function teamBudget(db: DbOrTx, teamId: string): Promise<TeamBudget> {
  const [row] = await db.select().from(teamBudgets).where(eq(teamBudgets.teamId, teamId))
  const ceilings = {
    perJob: row?.ceilingPerJob ?? defaultCeilings.perJob,
    perSuite: row?.ceilingPerSuite ?? defaultCeilings.perSuite,
    daily: row?.ceilingDaily ?? defaultCeilings.daily,
    monthly: row?.ceilingMonthly ?? defaultCeilings.monthly
  }
  // A ceiling that was lowered below a team's limit applies at once.
  const limit = (name: keyof BudgetLimits): MicroUsd => {
    const own = row?.[name] ?? defaultLimits[name]
    return own < ceilings[name] ? own : ceilings[name]
  }
  return {
    limits: { perJob: limit('perJob'), perSuite: limit('perSuite'), daily: limit('daily'), monthly: limit('monthly') },
    ceilings
  }
}

/** Sets the given values and leaves the others unchanged. */
export async function changeTeamBudget(
  db: DbOrTx,
  teamId: string,
  limits: Partial<BudgetLimits>,
  ceilings: Partial<BudgetLimits> = {}
): Promise<void> {
  const set = {
    ...limits,
    ...(ceilings.perJob !== undefined && { ceilingPerJob: ceilings.perJob }),
    ...(ceilings.perSuite !== undefined && { ceilingPerSuite: ceilings.perSuite }),
    ...(ceilings.daily !== undefined && { ceilingDaily: ceilings.daily }),
    ...(ceilings.monthly !== undefined && { ceilingMonthly: ceilings.monthly })
  }
  if (Object.keys(set).length === 0) return
  await db
    .insert(teamBudgets)
    .values({ teamId, ...set })
    .onConflictDoUpdate({ target: teamBudgets.teamId, set: { ...set, updatedAt: sql`clock_timestamp()` } })
}

/** Spent and reserved on the UTC day and in the month of `at`. */
export async function periodCounters(
  db: DbOrTx,
  teamId: string,
  at: Date
): Promise<{ day: PeriodCounter; month: PeriodCounter }> {
  const { day, month } = periodsOf(at)
  const rows = await db
    .select()
    .from(budgetCounters)
    .where(
      and(
        eq(budgetCounters.teamId, teamId),
        sql`(${budgetCounters.period}, ${budgetCounters.startsOn}) in (('day', ${day}::date), ('month', ${month}::date))`
      )
    )
  const counterOf = (period: 'day' | 'month'): PeriodCounter =>
    rows.find((row) => row.period === period) ?? nothingSpent
  return { day: counterOf('day'), month: counterOf('month') }
}

/** The budget that a reservation uses, its date, and further limits. */
export interface ReservationTerms {
  teamId: string
  startsAt: Date
  maxCost: MicroUsd | null
  /** The key that submits the job, when it has a limit of its own. */
  key: { id: string; dailyLimit: MicroUsd } | null
  /** Set for jobs of a capsule run. The transaction has locked the capsule. */
  capsuleId?: string
}

/**
 * Reserves a job's estimate on the day and in the month of its start. Returns the refusal instead of throwing; the
 * caller must then roll back the transaction. A single job is not a suite, however many circuits it has.
 */
export const reserve = (
  tx: Tx,
  job: ReservationTerms & { id: string; estimate: MicroUsd }
): Promise<BudgetRefusal | null> => reserveAll(tx, job, [job])

/**
 * Reserves jobs that are submitted together, all or none: each within the limit per job, their sum within the other
 * limits. Returns as `reserve` does. Each job settles separately.
 */
export const reserveSuite = (
  tx: Tx,
  suite: ReservationTerms & { jobs: { id: string; estimate: MicroUsd }[] }
): Promise<BudgetRefusal | null> => reserveAll(tx, suite, suite.jobs)

async function reserveAll(
  tx: Tx,
  { teamId, startsAt, maxCost, key, capsuleId }: ReservationTerms,
  members: { id: string; estimate: MicroUsd }[]
): Promise<BudgetRefusal | null> {
  const total = members.reduce((sum, { estimate }) => sum + estimate, 0n)
  // An estimate of zero is never refused, whatever the limits are.
  if (total === 0n) return null
  const { limits } = await teamBudget(tx, teamId)
  const { day, month } = periodsOf(startsAt)
  const capsule = capsuleId ? await lockCapsuleBudget(tx, capsuleId) : null
  const highest = members.reduce((most, { estimate }) => (estimate > most ? estimate : most), 0n)
  const single =
    checkOwnCap(total, maxCost) ??
    (key && (await reserveKeyDay(tx, key, day, total))) ??
    checkPerJob(highest, limits) ??
    (members.length > 1 ? checkPerSuite(total, limits) : null) ??
    (capsule && checkCapsule(total, capsule))
  if (single) return single
  if (capsuleId) await moveCapsuleBudget(tx, capsuleId, { reserved: total, spent: 0n })
  const priced = members.filter(({ estimate }) => estimate !== 0n)
  await tx
    .insert(ledger)
    .values(priced.map(({ id, estimate }) => ({ teamId, jobId: id, kind: 'reserve' as const, amount: estimate, day })))
  return reservePeriods(tx, teamId, { day, month }, total, limits)
}

/**
 * Makes sure that the reservation of a running job covers a circuit that it requests and whose intent is recorded. The
 * missing amount for all its circuits is reserved in the circuit's name, on the day of the job's own reservation. The
 * caller has locked the job.
 * @throws ServiceError `budget_exceeded` or `spend_limit_exceeded`, with the refusal as its cause.
 */
export async function reserveCircuit(
  tx: Tx,
  { jobId, task, attempt }: { jobId: string; task: string; attempt: number }
): Promise<void> {
  const terms = await circuitTerms(tx, jobId)
  const missing = terms.committed - terms.reserved
  if (missing <= 0n) return
  const { teamId, day, maxCost, key, capsuleId } = terms
  const { limits } = await teamBudget(tx, teamId)
  const { month } = periodsOf(new Date(`${day}T00:00:00Z`))
  const capsule = capsuleId ? await lockCapsuleBudget(tx, capsuleId) : null
  const refusal =
    checkOwnCap(missing, maxCost, terms.reserved) ??
    (key && (await reserveKeyDay(tx, key, day, missing))) ??
    checkPerJob(missing, limits, terms.reserved) ??
    (capsule && checkCapsule(missing, capsule)) ??
    (await reservePeriods(tx, teamId, { day, month }, missing, limits))
  if (refusal) throw budgetError(refusal)
  if (capsuleId) await moveCapsuleBudget(tx, capsuleId, { reserved: missing, spent: 0n })
  await tx.insert(ledger).values({ teamId, jobId, task, attempt, kind: 'reserve', amount: missing, day })
}

/** What a job's circuits cost or may cost, what is reserved for them, and their limits. */
async function circuitTerms(tx: Tx, jobId: string) {
  const ofJob = and(eq(ledger.jobId, jobId), eq(ledger.kind, 'reserve'))
  const [[job], [books], [circuits]] = [
    await tx
      .select({ maxCost: jobs.maxCost, keyId: apiKeys.id, keyDailyLimit: apiKeys.dailyLimit })
      .from(jobs)
      .leftJoin(apiKeys, eq(apiKeys.id, jobs.apiKeyId))
      .where(eq(jobs.id, jobId)),
    await tx
      .select({
        reserved: sql`coalesce(sum(${ledger.amount}), 0)`.mapWith(BigInt),
        day: sql<string>`min(${ledger.day})::text`
      })
      .from(ledger)
      .where(ofJob),
    await tx
      .select({ committed: sql`coalesce(sum(${committedBy}), 0)`.mapWith(BigInt) })
      .from(providerJobs)
      .where(eq(providerJobs.jobId, jobId))
  ]
  const { teamId, day } = await startOf(tx, jobId)
  const { maxCost, keyId, keyDailyLimit } = job!
  return {
    teamId,
    capsuleId: await capsuleOfJob(tx, jobId),
    // A reservation and its job may have been written on two sides of midnight.
    day: books!.day ?? day,
    maxCost,
    key: keyId !== null && keyDailyLimit !== null ? { id: keyId, dailyLimit: keyDailyLimit } : null,
    reserved: books!.reserved,
    committed: circuits!.committed
  }
}

/** What a requested circuit costs, or may cost. */
const committedBy = sql`case when ${providerJobs.state} = 'withdrawn' then 0
  when ${providerJobs.state} in ('completed', 'failed', 'cancelled') then coalesce(${providerJobs.cost}, ${providerJobs.estimate})
  else ${providerJobs.estimate} end`

/** Reserves on the team's day and in its month, as late as possible: until the commit, other jobs of the team wait. */
async function reservePeriods(
  tx: Tx,
  teamId: string,
  periods: { day: string; month: string },
  amount: MicroUsd,
  limits: BudgetLimits
): Promise<BudgetRefusal | null> {
  const { day, month } = await raiseReserved(tx, teamId, periods, amount)
  return checkPeriod('daily', amount, limits, day) ?? checkPeriod('monthly', amount, limits, month)
}

async function reserveKeyDay(
  tx: Tx,
  key: { id: string; dailyLimit: MicroUsd },
  day: string,
  estimate: MicroUsd
): Promise<BudgetRefusal | null> {
  const [counter] = await tx
    .insert(apiKeyDays)
    .values({ keyId: key.id, day, spent: 0n, reserved: estimate })
    .onConflictDoUpdate({
      target: [apiKeyDays.keyId, apiKeyDays.day],
      set: { reserved: sql`${apiKeyDays.reserved} + ${estimate}` }
    })
    .returning({ spent: apiKeyDays.spent, reserved: apiKeyDays.reserved })
  const { spent, reserved } = counter!
  return checkKeyDay(estimate, key.dailyLimit, { spent, reserved: reserved - estimate })
}

/** The state of a job's money. `free`: there was none. */
export type Settlement = 'settled' | 'held' | 'free'

/**
 * Settles what a job has spent (`all` for the whole reservation) and releases the rest, which is negative when more was
 * spent than reserved. Repeating it has no effect. `held` leaves the reservation unchanged, for a job whose provider
 * has not reported how it ended (`mayHoldMoney`); `settleHeld` settles it later.
 * @throws Error when the job was settled before with another figure: a later correction is an entry of its own.
 */
export async function settle(tx: Tx, jobId: string, cost: MicroUsd | 'all' | 'held'): Promise<Settlement> {
  const { reserve: reservation, settle: settled, release: released } = await entriesOf(tx, jobId)
  if (settled || released) {
    const before = settled?.amount ?? 0n
    const spent = cost === 'all' ? reservation?.amount : cost
    if (before === spent) return 'settled'
    throw new Error(`job ${jobId} was settled before with ${before} micro-USD (now ${spent})`)
  }
  if (cost === 'held') return reservation ? 'held' : 'free'
  const reserved = reservation?.amount ?? 0n
  const spent = cost === 'all' ? reserved : cost
  if (reserved === 0n && spent === 0n) return 'free'
  // The estimate was zero and there is a charge all the same. It counts on the day of the job.
  const { teamId, day } = reservation ?? (await startOf(tx, jobId))
  const entries = [{ teamId, jobId, kind: 'settle' as const, amount: spent, day }]
  const rest = { teamId, jobId, kind: 'release' as const, amount: reserved - spent, day }
  // The unique index decides between concurrent settlements: the loser's transaction fails and its step is repeated.
  // Therefore the `settle` entry is written even when nothing was spent.
  await tx.insert(ledger).values(rest.amount === 0n ? entries : [...entries, rest])
  const month = periodsOf(new Date(`${day}T00:00:00Z`)).month
  const capsuleId = reservation ? reservation.capsuleId : await capsuleOfJob(tx, jobId)
  if (capsuleId) {
    if (!reservation) await makeCapsuleBudget(tx, capsuleId)
    await moveCapsuleBudget(tx, capsuleId, { reserved: -reserved, spent })
  }
  if (!reservation) await makeKeyDay(tx, jobId, day)
  await moveKeyDay(tx, jobId, { day, reserved: -reserved, spent })
  for (const [period, startsOn] of [
    ['day', day],
    ['month', month]
  ] as const) {
    if (!reservation) await lockCounter(tx, teamId, period, startsOn)
    await moveCounter(tx, { teamId, period, startsOn, reserved: -reserved, spent })
  }
  return 'settled'
}

/**
 * Settles the held reservation of a finished job with the exact figure, and records it as the job's cost. Repeating it
 * with the same figure returns `already`.
 * @throws ServiceError `not_found`, `conflict` when the job's money is not held, or was settled with another figure.
 */
export async function settleHeld(tx: Tx, jobId: string, cost: MicroUsd): Promise<'settled' | 'already'> {
  const [job] = await tx
    .select({
      status: jobs.status,
      errorCode: jobs.errorCode,
      cancelOutcome: jobs.cancelOutcome,
      actualCost: jobs.actualCost
    })
    .from(jobs)
    .where(eq(jobs.id, jobId))
    .for('no key update')
  if (!job) throw new ServiceError('not_found', 'no such job')
  if (mayHoldMoney(job) && job.actualCost === cost) return 'already'
  assertMoneyHeld(job)
  await settle(tx, jobId, cost)
  await tx.update(jobs).set({ actualCost: cost, updatedAt: sql`clock_timestamp()` }).where(eq(jobs.id, jobId))
  // The provider need not be queried any more.
  await tx.update(providerJobs).set({ askAt: null }).where(eq(providerJobs.jobId, jobId))
  return 'settled'
}

/**
 * The job's entries by kind. It can have several reservations (for circuits that it requested, all on the same day),
 * and one settlement.
 */
async function entriesOf(tx: Tx, jobId: string) {
  const rows = await tx
    .select({
      kind: ledger.kind,
      teamId: ledger.teamId,
      day: ledger.day,
      amount: ledger.amount,
      capsuleId: sql<string | null>`(select j.capsule_id from jobs j
        where j.id = ledger.job_id and j.capsule_run_id is not null)`
    })
    .from(ledger)
    .where(eq(ledger.jobId, jobId))
  const entryOf = (kind: (typeof rows)[number]['kind']) => rows.find((row) => row.kind === kind)
  const reserved = rows.filter(({ kind }) => kind === 'reserve')
  const first = reserved[0]
  const amount = reserved.reduce((sum, row) => sum + row.amount, 0n)
  return { reserve: first && { ...first, amount }, settle: entryOf('settle'), release: entryOf('release') }
}
