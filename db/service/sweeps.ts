// The last pass of each sweep in any worker, so that administrators see a sweep that has stopped or has findings.
import { asc, eq, sql } from 'drizzle-orm'
import type { Finding, Sweep, SweepName } from '../../domain/operations/sweep.js'
import type { DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { sweeps } from '../tables/operations.js'

/** After this many periods without a success a sweep is late. */
const LATE_PERIODS = 10
/** Further findings of a sweep are not stored. */
export const FINDINGS_MAX = 100
const TEXT_MAX = 500

export interface SweepPass {
  name: SweepName
  /** How often a pass is recorded when all is well. */
  periodSeconds: number
  /** Why the pass failed; `null` when it succeeded. */
  error: string | null
  /** How many items were handled since the previous record. */
  handled: number
  /** How many rows a successful pass could not handle, and why the last of them. */
  failed?: number
  lastFailure?: string | null
  /** What an administrator has to check; `null` leaves the previous findings. */
  findings: string[] | null
}

/**
 * Records a pass. A failed one leaves the last success and its findings unchanged. A finding keeps the time of its
 * first record.
 */
export async function recordSweep(db: DbOrTx, pass: SweepPass): Promise<void> {
  const { name, periodSeconds, error, handled, failed = 0, lastFailure = null, findings } = pass
  const row = { periodSeconds, ranAt: now, error: (error ?? lastFailure)?.slice(0, TEXT_MAX) ?? null }
  const success = {
    succeededAt: now,
    handled,
    failed,
    ...(findings && { findings: await withTimes(db, name, findings.slice(0, FINDINGS_MAX)) })
  }
  const set = error === null ? { ...row, ...success } : row
  await db
    .insert(sweeps)
    .values({ name, ...set })
    .onConflictDoUpdate({ target: sweeps.name, set })
}

async function withTimes(db: DbOrTx, name: SweepName, messages: string[]): Promise<Finding[]> {
  if (messages.length === 0) return []
  const [known] = await db.select({ findings: sweeps.findings }).from(sweeps).where(eq(sweeps.name, name))
  return messages.map((text) => {
    const message = text.slice(0, TEXT_MAX)
    return known?.findings.find((old) => old.message === message) ?? { message, at: new Date().toISOString() }
  })
}

export async function loadSweeps(db: DbOrTx): Promise<Sweep[]> {
  return db
    .select({
      name: sweeps.name,
      periodSeconds: sweeps.periodSeconds,
      ranAt: sweeps.ranAt,
      succeededAt: sweeps.succeededAt,
      error: sweeps.error,
      handled: sweeps.handled,
      failed: sweeps.failed,
      findings: sweeps.findings,
      late: sql<boolean>`coalesce(${sweeps.succeededAt}, '-infinity')
        < ${now} - make_interval(secs => ${LATE_PERIODS} * ${sweeps.periodSeconds})`
    })
    .from(sweeps)
    .orderBy(asc(sweeps.name))
}

/** The findings of a sweep that still runs; those of one that stopped are out of date. */
export async function findingsOf(db: DbOrTx, name: SweepName): Promise<string[]> {
  const sweep = (await loadSweeps(db)).find((one) => one.name === name)
  return sweep && !sweep.late ? sweep.findings.map(({ message }) => message) : []
}

/** Whether the last success of a sweep is longer ago than its period, or than `foundSeconds` when it has findings. */
export async function isDue(db: DbOrTx, name: SweepName, everySeconds: number, foundSeconds: number): Promise<boolean> {
  const [row] = await db
    .select({
      due: sql<boolean>`coalesce(${sweeps.succeededAt}, '-infinity') < ${now} - make_interval(secs =>
        case when jsonb_array_length(${sweeps.findings}) > 0 then least(${everySeconds}::int, ${foundSeconds}::int)
          else ${everySeconds}::int end)`
    })
    .from(sweeps)
    .where(eq(sweeps.name, name))
  return row?.due ?? true
}
