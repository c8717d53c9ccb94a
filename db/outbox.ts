// The outbox: what still has to be told to an engine. The relay takes due rows, tells, and notes the outcome; a row is
// deleted by the step that makes it needless (db/job-steps.ts), never here. Telling twice is harmless.
import { and, asc, eq, exists, lte, or, sql } from 'drizzle-orm'
import type { ExecutionMode } from '../domain/job-status.js'
import { anyOf, type Db } from './client.js'
import { endFailed } from './job-steps.js'
import { now } from './job-transition.js'
import { outbox } from './tables/jobs.js'

export interface OutboxRow {
  jobId: string
  kind: 'start' | 'cancel'
  mode: ExecutionMode
  generation: number
  /** How often the row was delivered before. */
  deliveries: number
}

export type OutboxKey = Pick<OutboxRow, 'jobId' | 'kind'>

/** How long a taken row is left alone while its taker talks to the engine. */
const TAKEN_SECONDS = 10

const columns = {
  jobId: outbox.jobId,
  kind: outbox.kind,
  mode: outbox.mode,
  generation: outbox.generation,
  deliveries: outbox.deliveries
}

/** Takes at most `limit` rows that are due. Rows that another relay is taking are passed over. */
export async function takeDue(db: Db, limit: number): Promise<OutboxRow[]> {
  return db.transaction(async (tx) => {
    const due = await tx
      .select(columns)
      .from(outbox)
      .where(and(lte(outbox.nextAt, now), lte(outbox.dueAt, now)))
      .orderBy(asc(outbox.nextAt))
      .limit(limit)
      .for('update', { skipLocked: true })
    if (due.length > 0)
      await tx
        .update(outbox)
        .set({ nextAt: sql`${now} + make_interval(secs => ${TAKEN_SECONDS})` })
        .where(isOneOf(due))
    return due
  })
}

/** The rows of jobs just recorded, for the nudge. Those not due yet are left to the relay. */
export async function findFresh(db: Db, jobIds: string[]): Promise<OutboxRow[]> {
  return db
    .select(columns)
    .from(outbox)
    .where(and(anyOf(outbox.jobId, jobIds), eq(outbox.deliveries, 0), lte(outbox.dueAt, now)))
}

/** Notes a delivery; the relay looks again `recheckSeconds` later, whether the engine still knows of it. */
export async function markDelivered(db: Db, keys: OutboxKey[], recheckSeconds: number): Promise<void> {
  if (keys.length === 0) return
  await db
    .update(outbox)
    .set({
      deliveries: sql`${outbox.deliveries} + 1`,
      unreachableSince: null,
      nextAt: sql`${now} + make_interval(secs => ${recheckSeconds})`
    })
    .where(isOneOf(keys))
}

/** Notes that the engine answered and still holds what was delivered. */
export async function markHeld(db: Db, keys: OutboxKey[], recheckSeconds: number): Promise<void> {
  if (keys.length === 0) return
  await db
    .update(outbox)
    .set({ unreachableSince: null, nextAt: sql`${now} + make_interval(secs => ${recheckSeconds})` })
    .where(isOneOf(keys))
}

/** Notes that the engine could not be reached; the time counts from the first such note in a row. */
export async function markUnreachable(db: Db, keys: OutboxKey[], retrySeconds: number): Promise<void> {
  if (keys.length === 0) return
  await db
    .update(outbox)
    .set({
      unreachableSince: sql`coalesce(${outbox.unreachableSince}, ${now})`,
      nextAt: sql`${now} + make_interval(secs => ${retrySeconds})`
    })
    .where(isOneOf(keys))
}

/**
 * Gives up on jobs whose engine could not be reached for `deadlineSeconds` without a break. Returns their ids. Jobs are
 * always locked before their outbox rows, so the rows are only read here.
 */
export async function sweepDispatchDeadline(db: Db, deadlineSeconds: number, limit: number): Promise<string[]> {
  const tooLong = lte(outbox.unreachableSince, sql`${now} - make_interval(secs => ${deadlineSeconds})`)
  const late = await db
    .select({ jobId: outbox.jobId, mode: outbox.mode })
    .from(outbox)
    .where(and(eq(outbox.kind, 'start'), tooLong))
    .limit(limit)
  const ended: string[] = []
  for (const { jobId, mode } of late) {
    const engine = mode === 'direct' ? 'direct queue' : 'workflow engine'
    const message = `the ${engine} could not be reached for ${deadlineSeconds} s; submit again later`
    const moved = await db.transaction((tx) =>
      endFailed(
        tx,
        jobId,
        { code: 'dispatch_failed', message },
        {
          to: 'dispatch_failed',
          // A delivery may have come in between.
          where: exists(
            tx
              .select()
              .from(outbox)
              .where(and(eq(outbox.jobId, jobId), eq(outbox.kind, 'start'), tooLong))
          )
        }
      )
    )
    if (moved === 'won') ended.push(jobId)
  }
  return ended
}

const isOneOf = (keys: OutboxKey[]) =>
  or(
    ...(['start', 'cancel'] as const).map((kind) => {
      const ids = keys.filter((key) => key.kind === kind).map((key) => key.jobId)
      return ids.length > 0 ? and(eq(outbox.kind, kind), anyOf(outbox.jobId, ids)) : undefined
    })
  )
