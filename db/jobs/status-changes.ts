// Tells of each change of a job's status once it is committed, to whoever counts and logs in this process. Nothing else
// hears of all of them: steps, sweeps and requests all end in `transition`.
import type { ErrorCode } from '../../domain/errors.js'
import type { ExecutionMode, JobStatus } from '../../domain/jobs/job-status.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Db, DbOrTx, Tx } from '../client.js'

export interface StatusChange {
  jobId: string
  teamId: string
  /** Of a job of a capsule's run: which one. */
  capsuleRunId: string | null
  /** Of the request that submitted the job. */
  requestId: string | null
  to: JobStatus
  mode: ExecutionMode
  backend: string
  generation: number
  errorCode: ErrorCode | null
  cost: MicroUsd | null
  /** From the moment at which it could have started (its creation, or `not_before`) to its start; `null` before that. */
  queuedSeconds: number | null
  /** From its start to its end; `null` before that, and where it never started. */
  ranSeconds: number | null
}

/** Must not throw: what it is told of has happened. */
export type StatusListener = (move: StatusChange) => void

const listeners = new WeakMap<DbOrTx, StatusListener>()

/**
 * Has `tell` called for each change of a status that is made through `db`, after the commit and never for what was rolled
 * back. A change whose commit was not answered (the connection broke) is told by nobody: none is told twice.
 */
export function onStatusCommitted(db: DbOrTx, tell: StatusListener): void {
  listeners.set(db, tell)
  // A savepoint is begun like a transaction, without settings of its own.
  const begin = db.transaction.bind(db) as Db['transaction']
  const transaction: Db['transaction'] = async (work, config) => {
    const moves: StatusChange[] = []
    const answer = await begin((tx: Tx) => {
      onStatusCommitted(tx, (move) => moves.push(move))
      return work(tx)
    }, config)
    for (const move of moves) tell(move)
    return answer
  }
  db.transaction = transaction
}

/** For `transition`: what its caller's transaction has done. */
export const queueStatusChange = (handle: DbOrTx, move: () => StatusChange): void => listeners.get(handle)?.(move())
