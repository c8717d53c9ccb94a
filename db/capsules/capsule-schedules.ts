// Schedules of verifications. The row is the truth; the engine has a copy, made from it by apps/worker/sweeps/schedule-sweep.ts. A
// schedule that is over stays as a row until the engine's copy is gone.
import { and, asc, desc, eq, isNotNull, isNull, not, or, type SQL, sql } from 'drizzle-orm'
import type { AlertOutcome } from '../../domain/verification/schedule-names.js'
import { anyOf, type Db, type DbOrTx, type Tx } from '../client.js'
import { capsuleRuns, capsuleSchedules } from '../tables/capsules.js'

export type ScheduleRow = typeof capsuleSchedules.$inferSelect

export interface GivenSchedule {
  /** As domain/verification/schedule.ts reads it. */
  cron: string
  /** A name of the IANA database. */
  timezone: string
  paused: boolean
  alertEmails: string[]
  alertOn: AlertOutcome[]
}

const isOf = (capsuleId: string) => eq(capsuleSchedules.capsuleId, capsuleId)
const goesOn = isNull(capsuleSchedules.endedAt)

/** Makes the schedule of a capsule, or changes it. @returns the row, and whether there was none. */
export async function putSchedule(
  tx: Tx,
  capsuleId: string,
  given: GivenSchedule,
  userId: string
): Promise<{ schedule: ScheduleRow; made: boolean }> {
  const before = await loadSchedule(tx, capsuleId)
  const set = { ...given, createdBy: userId, endedAt: null, refusal: null, updatedAt: sql`now()` }
  const [schedule] = await tx
    .insert(capsuleSchedules)
    .values({ capsuleId, ...given, createdBy: userId })
    .onConflictDoUpdate({
      target: capsuleSchedules.capsuleId,
      set: {
        ...set,
        version: sql`${capsuleSchedules.version} + 1`,
        ...(!before && { createdAt: sql`now()` })
      }
    })
    .returning()
  return { schedule: schedule!, made: !before }
}

/** `null` when there is none, or it is over. */
export async function loadSchedule(db: DbOrTx, capsuleId: string): Promise<ScheduleRow | null> {
  const [row] = await db
    .select()
    .from(capsuleSchedules)
    .where(and(isOf(capsuleId), goesOn))
  return row ?? null
}

/** Ends the schedule of a capsule; runs under way go on. @returns whether there was one. */
export async function endSchedule(tx: DbOrTx, capsuleId: string): Promise<boolean> {
  const rows = await tx
    .update(capsuleSchedules)
    .set({ endedAt: sql`now()`, version: sql`${capsuleSchedules.version} + 1`, updatedAt: sql`now()` })
    .where(and(isOf(capsuleId), goesOn))
    .returning({ capsuleId: capsuleSchedules.capsuleId })
  return rows.length > 0
}

/** A schedule's last run, refused ones too. */
export async function lastScheduledRun(db: DbOrTx, capsuleId: string) {
  const [run] = await db
    .select({
      id: capsuleRuns.id,
      trigger: capsuleRuns.trigger,
      scheduledAt: capsuleRuns.scheduledAt,
      status: capsuleRuns.status,
      verdict: capsuleRuns.verdict,
      reason: capsuleRuns.reason
    })
    .from(capsuleRuns)
    .where(and(eq(capsuleRuns.capsuleId, capsuleId), isNotNull(capsuleRuns.scheduledAt)))
    .orderBy(desc(capsuleRuns.scheduledAt))
    .limit(1)
  return run ?? null
}

const lags: SQL = sql`${capsuleSchedules.appliedVersion} is distinct from ${capsuleSchedules.version}`

/**
 * Capsules of whose schedules the engine has no copy, an older one, or one that has to go; the longest first.
 * @param except those that are left for later.
 */
export async function unappliedSchedules(db: DbOrTx, limit: number, except: readonly string[] = []): Promise<string[]> {
  const rows = await db
    .select({ capsuleId: capsuleSchedules.capsuleId })
    .from(capsuleSchedules)
    .where(and(or(lags, isNotNull(capsuleSchedules.endedAt)), not(anyOf(capsuleSchedules.capsuleId, [...except]))))
    .orderBy(asc(capsuleSchedules.updatedAt))
    .limit(limit)
  return rows.map(({ capsuleId }) => capsuleId)
}

/** Every schedule that the engine should have a copy of, and the version that it was told, by capsule. */
export async function appliedSchedules(db: DbOrTx): Promise<Map<string, number>> {
  const rows = await db
    .select({ capsuleId: capsuleSchedules.capsuleId, version: capsuleSchedules.version })
    .from(capsuleSchedules)
    .where(and(goesOn, sql`not (${lags})`, isNull(capsuleSchedules.refusal)))
  return new Map(rows.map(({ capsuleId, version }) => [capsuleId, version]))
}

/** Marks what the engine was found not to have, so that it is told again. */
export async function forgetApplied(db: DbOrTx, capsuleId: string, version: number): Promise<void> {
  await db
    .update(capsuleSchedules)
    .set({ appliedVersion: null })
    .where(and(isOf(capsuleId), eq(capsuleSchedules.appliedVersion, version)))
}

/** What the engine is told of one schedule; each rejects when the engine does not answer. */
export interface ScheduleCopies {
  /** @returns why the engine does not take it, or `null`. */
  put(schedule: ScheduleRow): Promise<string | null>
  remove(capsuleId: string): Promise<void>
}

/**
 * Brings the engine's copy to what the row says. One worker at a time: a slower one would put an older version over a newer
 * one. Nobody else waits for that lock, so a change by its owner never waits for the engine.
 * @returns `busy`: another worker is at it.
 */
export async function applySchedule(
  db: Db,
  capsuleId: string,
  copies: ScheduleCopies
): Promise<'applied' | 'removed' | 'refused' | 'busy'> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.execute<{ mine: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${`schedule ${capsuleId}`}, 0)) as mine`
    )
    if (!lock!.mine) return 'busy'
    const [row] = await tx.select().from(capsuleSchedules).where(isOf(capsuleId))
    if (!row || row.endedAt) {
      await copies.remove(capsuleId)
      if (row) await tx.delete(capsuleSchedules).where(and(isOf(capsuleId), eq(capsuleSchedules.version, row.version)))
      return 'removed'
    }
    const refusal = await copies.put(row)
    await tx
      .update(capsuleSchedules)
      .set({ appliedVersion: row.version, refusal })
      .where(and(isOf(capsuleId), eq(capsuleSchedules.version, row.version)))
    return refusal === null ? 'applied' : 'refused'
  })
}
