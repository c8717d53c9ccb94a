// How a sweep handles one row of many: in a transaction of its own, without waiting for locks that others hold, and so
// that a row which cannot be handled does not stop the rows behind it.
import { sql } from 'drizzle-orm'
import { type Db, postgresCode, type Tx } from './client.js'

export interface SweptRow {
  id: string
  teamId: string
}

/** Rows of a sweep that could not be handled. */
export interface RowFailures {
  /** Ids of rows, and of teams, to leave out for now. */
  except(): readonly string[]
  failed(row: SweptRow, error: unknown): void
}

/** Whether a lock was held by another session for longer than a sweep waits. */
export const isLockTimeout = (error: unknown): boolean => postgresCode(error) === '55P03'

/** A sweep waits this long for a lock, so that a frozen session cannot hold it up for longer. */
export const sweepTransaction = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.execute(sql`set local lock_timeout = '1s'`)
    return work(tx)
  })

/**
 * Handles rows one after the other, each in a transaction of its own: transactions over several rows could deadlock.
 * After a lock time-out, the other rows of the same team are left to a later pass, since they need the same locks.
 * @param handle returns whether it handled the row.
 * @returns the ids of the handled rows.
 */
export async function handleRows<Row extends SweptRow>(
  db: Db,
  rows: readonly Row[],
  failures: RowFailures,
  handle: (tx: Tx, row: Row) => Promise<boolean>
): Promise<string[]> {
  const handled: string[] = []
  const lockedTeams = new Set<string>()
  for (const row of rows) {
    if (lockedTeams.has(row.teamId)) continue
    try {
      if (await sweepTransaction(db, (tx) => handle(tx, row))) handled.push(row.id)
    } catch (error) {
      if (isLockTimeout(error)) lockedTeams.add(row.teamId)
      failures.failed(row, error)
    }
  }
  return handled
}
