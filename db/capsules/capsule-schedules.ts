// Schedules of verifications. The row is authoritative; apps/worker/sweeps/schedule-sweep.ts copies it to Temporal. A
// deleted schedule keeps its row until the copy in Temporal is gone.
import { and, asc, desc, eq, isNotNull, isNull, not, or, type SQL, sql } from 'drizzle-orm'
import type { AlertOutcome } from '../../domain/verification/schedule-names.js'
import { anyOf, type Db, type DbOrTx, type Tx } from '../client.js'
import { capsuleRuns, capsuleSchedules } from '../tables/capsules.js'

export type ScheduleRow = typeof capsuleSchedules.$inferSelect

export interface GivenSchedule {
  /** Validated by domain/verification/schedule.ts. */
  cron: string
  /** A name of the IANA database. */
  timezone: string
  paused: boolean
  alertEmails: string[]
  alertOn: AlertOutcome[]
}

const ofCapsule = (capsuleId: string) => eq(capsuleSchedules.capsuleId, capsuleId)
const goesOn = isNull(capsuleSchedules.endedAt)

/** Creates or changes the schedule of a capsule. @returns the row, and whether it is new. */
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

/** `null` when there is none, or it was deleted. */
export async function loadSchedule(db: DbOrTx, capsuleId: string): Promise<ScheduleRow | null> {
  const [row] = await db
    .select()
    .from(capsuleSchedules)
    .where(and(ofCapsule(capsuleId), goesOn))
  return row ?? null
}

/** Deletes the schedule of a capsule; open runs continue. @returns whether there was one. */
export async function deleteSchedule(tx: DbOrTx, capsuleId: string): Promise<boolean> {
  const rows = await tx
    .update(capsuleSchedules)
    .set({ endedAt: sql`now()`, version: sql`${capsuleSchedules.version} + 1`, updatedAt: sql`now()` })
    .where(and(ofCapsule(capsuleId), goesOn))
    .returning({ capsuleId: capsuleSchedules.capsuleId })
  return rows.length > 0
}

/** A schedule's last run, including refused ones. */
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

const isOutdated: SQL = sql`${capsuleSchedules.appliedVersion} is distinct from ${capsuleSchedules.version}`

/**
 * Capsules whose schedule is missing in Temporal, outdated there, or to be removed there; the longest waiting first.
 * @param except capsules to skip this time.
 */
export async function unappliedSchedules(db: DbOrTx, limit: number, except: readonly string[] = []): Promise<string[]> {
  const rows = await db
    .select({ capsuleId: capsuleSchedules.capsuleId })
    .from(capsuleSchedules)
    .where(
      and(or(isOutdated, isNotNull(capsuleSchedules.endedAt)), not(anyOf(capsuleSchedules.capsuleId, [...except])))
    )
    .orderBy(asc(capsuleSchedules.updatedAt))
    .limit(limit)
  return rows.map(({ capsuleId }) => capsuleId)
}

/** Every schedule that Temporal should have, with the version that it received, by capsule. */
export async function appliedSchedules(db: DbOrTx): Promise<Map<string, number>> {
  const rows = await db
    .select({ capsuleId: capsuleSchedules.capsuleId, version: capsuleSchedules.version })
    .from(capsuleSchedules)
    .where(and(goesOn, sql`not (${isOutdated})`, isNull(capsuleSchedules.refusal)))
  return new Map(rows.map(({ capsuleId, version }) => [capsuleId, version]))
}

/** Marks a schedule that Temporal was found not to have, so that it is copied again. */
export async function forgetApplied(db: DbOrTx, capsuleId: string, version: number): Promise<void> {
  await db
    .update(capsuleSchedules)
    .set({ appliedVersion: null })
    .where(and(ofCapsule(capsuleId), eq(capsuleSchedules.appliedVersion, version)))
}

/** Temporal's copies of schedules. Each method rejects when Temporal does not respond. */
export interface ScheduleCopies {
  /** @returns why Temporal refuses the schedule, or `null`. */
  put(schedule: ScheduleRow): Promise<string | null>
  remove(capsuleId: string): Promise<void>
}

/**
 * Brings Temporal's copy up to date with the row. Only one worker at a time: a slower one could overwrite a newer
 * version. No other code takes this lock, so a change by a user never waits for Temporal.
 * @returns `busy` when another worker is doing it.
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
    const [row] = await tx.select().from(capsuleSchedules).where(ofCapsule(capsuleId))
    if (!row || row.endedAt) {
      await copies.remove(capsuleId)
      if (row)
        await tx.delete(capsuleSchedules).where(and(ofCapsule(capsuleId), eq(capsuleSchedules.version, row.version)))
      return 'removed'
    }
    const refusal = await copies.put(row)
    await tx
      .update(capsuleSchedules)
      .set({ appliedVersion: row.version, refusal })
      .where(and(ofCapsule(capsuleId), eq(capsuleSchedules.version, row.version)))
    return refusal === null ? 'applied' : 'refused'
  })
}
