// The outbox: what a dispatch target still has to receive. The relay takes due rows, delivers them, and records the
// outcome. The step that makes a row obsolete deletes it (db/job-steps/job-steps.ts), never this file. Delivering twice
// is harmless, so outcomes are recorded without waiting for the disk.
import { and, eq, exists, lte, or, sql } from 'drizzle-orm'
import { type DispatchKind, dispatchKinds } from '../../domain/jobs/dispatch.js'
import type { ExecutionMode } from '../../domain/jobs/job-status.js'
import { anyOf, type Db, listText } from '../client.js'
import { now } from '../clock.js'
import { judgeStarts } from '../jobs/deferred-starts.js'
import { type Places, perShape, query, statement } from '../statement.js'
import { handleRows, type RowFailures } from '../sweep-rows.js'
import { outbox } from '../tables/jobs.js'
import { unflushed } from '../unflushed.js'
import { recordFailure } from './job-steps.js'

export interface OutboxRow {
  jobId: string
  kind: DispatchKind
  mode: ExecutionMode
  generation: number
  /** How often the row was delivered before. */
  deliveries: number
}

export type OutboxKey = Pick<OutboxRow, 'jobId' | 'kind'>

/** How long a taken row is left to the process that delivers it. */
const TAKEN_SECONDS = 10

const columns = sql`job_id, kind, mode, generation, deliveries, team_id, backend`

type JudgedRow = OutboxRow & Record<string, unknown> & { held: string | null }

/** `full` means that as many rows were due as were requested, so there may be more. */
export interface DueRows {
  rows: OutboxRow[]
  full: boolean
}

/**
 * Takes at most `limit` due rows of a dispatch target, except those that have to be deferred (db/jobs/deferred-starts.ts). Rows that another
 * relay is taking are skipped.
 */
export async function takeDue(db: Db, mode: ExecutionMode, limit: number, runningMax: number): Promise<DueRows> {
  // `now()` is constant within the statement, so the index scan can stop at rows that are not due yet.
  const due = sql`select ${columns} from ${outbox}
    where mode = ${mode} and next_at <= now() and due_at <= now() order by next_at limit ${limit} for update skip locked`
  const rows = await db.execute<JudgedRow>(
    judgeStarts(due, runningMax, sql`now() + make_interval(secs => ${TAKEN_SECONDS})`)
  )
  return { rows: passed(rows), full: rows.length === limit }
}

/**
 * The rows of jobs that were just recorded, for the nudge. Rows that are deferred or not due yet are left to the relay.
 */
export async function findFresh(db: Db, jobIds: string[], runningMax: number): Promise<OutboxRow[]> {
  return passed(await freshRows(runningMax)(db, { jobIds: listText(jobIds) }))
}

const freshRows = perShape((runningMax: number) =>
  statement<{ jobIds: string }, JudgedRow>(({ jobIds }) => {
    // The list is passed as one text: for a list of known length, Postgres would make a plan for each length.
    const fresh = sql`select ${columns} from ${outbox}
      where job_id = any(string_to_array((select ${jobIds}::text), ',')::uuid[]) and deliveries = 0 and due_at <= now()
        and held_reason is null`
    return judgeStarts(fresh, runningMax, null)
  })
)

const passed = (rows: JudgedRow[]): OutboxRow[] =>
  rows
    .filter(({ held }) => held === null)
    .map(({ jobId, kind, mode, generation, deliveries }) => ({ jobId, kind, mode, generation, deliveries }))

/** Records a delivery. After `recheckSeconds` the relay checks whether the dispatch target still has it. */
export async function markDelivered(db: Db, keys: OutboxKey[], recheckSeconds: number): Promise<void> {
  for (const kind of dispatchKinds) {
    const ids = keys.filter((key) => key.kind === kind).map(({ jobId }) => jobId)
    if (ids.length > 0) await noteDelivery(db, { kind, ids: listText(ids), recheckSeconds })
  }
}

const noteDelivery = query((given: Places<{ kind: DispatchKind; ids: string; recheckSeconds: number }>, on) =>
  on
    .update(outbox)
    .set({
      deliveries: sql`${outbox.deliveries} + 1`,
      heldReason: null,
      unreachableSince: null,
      nextAt: sql`${now} + make_interval(secs => ${given.recheckSeconds})`
    })
    .where(and(eq(outbox.kind, given.kind), anyOf(outbox.jobId, given.ids), unflushed))
)

/** Records that the dispatch target responded and still has the delivery. */
export async function markDeferred(db: Db, keys: OutboxKey[], recheckSeconds: number): Promise<void> {
  if (keys.length === 0) return
  await db
    .update(outbox)
    .set({ unreachableSince: null, nextAt: sql`${now} + make_interval(secs => ${recheckSeconds})` })
    .where(and(isOneOf(keys), unflushed))
}

/**
 * The pause before an unreachable target is tried again grows with its outage: half of the time that the outage has
 * lasted, within these limits.
 */
export interface RetryPause {
  minSeconds: number
  maxSeconds: number
}

/** Records that the dispatch target could not be reached. The time counts from the first such record in a row. */
export async function markUnreachable(db: Db, keys: OutboxKey[], pause: RetryPause): Promise<void> {
  if (keys.length === 0) return
  const outage = sql`extract(epoch from ${now} - coalesce(${outbox.unreachableSince}, ${now}))`
  const seconds = sql`greatest(${pause.minSeconds}::float8, least(${pause.maxSeconds}::float8, ${outage} / 2))`
  await db
    .update(outbox)
    .set({
      unreachableSince: sql`coalesce(${outbox.unreachableSince}, ${now})`,
      nextAt: sql`${now} + make_interval(secs => ${seconds})`
    })
    .where(and(isOneOf(keys), unflushed))
}

/**
 * Records that the dispatch target responded, and did not take the delivery. The job waits as for an unreachable one,
 * but the deadline of an outage starts again.
 */
export async function markRefused(db: Db, keys: OutboxKey[], retrySeconds: number): Promise<void> {
  if (keys.length === 0) return
  await db
    .update(outbox)
    .set({ unreachableSince: now, nextAt: sql`${now} + make_interval(secs => ${retrySeconds})` })
    .where(and(isOneOf(keys), unflushed))
}

/**
 * Fails jobs whose dispatch target could not be reached for `deadlineSeconds` without interruption. Returns their ids.
 * Jobs are always locked before their outbox rows, so the rows are only read here.
 * @param tried the rows whose delivery has just failed: an old time alone proves nothing after a pause of the relays.
 */
export async function sweepDispatchDeadline(
  db: Db,
  deadlineSeconds: number,
  tried: OutboxKey[],
  failures: RowFailures
): Promise<string[]> {
  const starts = tried.filter(({ kind }) => kind === 'start').map(({ jobId }) => jobId)
  if (starts.length === 0) return []
  const tooLong = lte(outbox.unreachableSince, sql`${now} - make_interval(secs => ${deadlineSeconds})`)
  const late = await db
    .select({ id: outbox.jobId, teamId: outbox.teamId, mode: outbox.mode })
    .from(outbox)
    .where(and(eq(outbox.kind, 'start'), anyOf(outbox.jobId, starts), tooLong))
  return handleRows(db, late, failures, async (tx, { id, mode }) => {
    const engine = mode === 'direct' ? 'direct queue' : 'workflow engine'
    const message = `the ${engine} could not be reached for ${deadlineSeconds} s; submit again later`
    const moved = await recordFailure(
      tx,
      id,
      { code: 'dispatch_failed', message },
      {
        to: 'dispatch_failed',
        // A delivery may have succeeded since.
        where: exists(
          tx
            .select()
            .from(outbox)
            .where(and(eq(outbox.jobId, id), eq(outbox.kind, 'start'), tooLong))
        )
      }
    )
    return moved === 'won'
  })
}

const isOneOf = (keys: OutboxKey[]) =>
  or(
    ...(['start', 'cancel'] as const).map((kind) => {
      const ids = keys.filter((key) => key.kind === kind).map((key) => key.jobId)
      return ids.length > 0 ? and(eq(outbox.kind, kind), anyOf(outbox.jobId, ids)) : undefined
    })
  )
