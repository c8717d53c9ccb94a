// Reports each change of a job's status to this process once it is committed, for metrics and logs. It sees every
// change, since steps, sweeps and requests all go through `transition`.
import type { ErrorCode } from '../../domain/errors.js'
import type { ExecutionMode, JobStatus } from '../../domain/jobs/job-status.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db, DbOrTx, Tx } from '../client.js'

export interface StatusChange {
  jobId: string
  teamId: string
  /** Set for jobs that a capsule run created. */
  capsuleRunId: string | null
  /** The id of the request that submitted the job. */
  requestId: string | null
  to: JobStatus
  mode: ExecutionMode
  backend: string
  generation: number
  errorCode: ErrorCode | null
  cost: MicroUsd | null
  /**
   * Seconds from the time at which it could have started (its creation, or `not_before`) to its start; `null` before
   * that.
   */
  queuedSeconds: number | null
  /** Seconds from its start to its end; `null` before that, and when it never started. */
  ranSeconds: number | null
  /** Whether its end has released a deferred start of its team, which is due now. */
  releasedNext: boolean
}

/** Must not throw: the change is already committed. */
export type StatusListener = (change: StatusChange) => void

const listeners = new WeakMap<DbOrTx, StatusListener>()

/**
 * Calls `listener` for each change of a status made through `db`, after the commit and never after a rollback. A change
 * whose commit got no response (the connection broke) is not reported: no change is reported twice.
 */
export function onStatusCommitted(db: DbOrTx, listener: StatusListener): void {
  listeners.set(db, listener)
  // A savepoint begins like a transaction, without settings of its own.
  const begin = db.transaction.bind(db) as Db['transaction']
  const transaction: Db['transaction'] = async (work, config) => {
    const changes: StatusChange[] = []
    const result = await begin((tx: Tx) => {
      onStatusCommitted(tx, (change) => changes.push(change))
      return work(tx)
    }, config)
    for (const change of changes) listener(change)
    return result
  }
  db.transaction = transaction
}

/** For `transition`: queues a change until the caller's transaction is committed. */
export const queueStatusChange = (handle: DbOrTx, change: () => StatusChange): void => listeners.get(handle)?.(change())
