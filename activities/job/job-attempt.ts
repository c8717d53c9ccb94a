// The attempt of a job under way: opened when the executor accepts an execution, closed with its outcome.

import type { Db } from '../../db/client.js'
import { attemptUnderWay, closeAttempt, completeAttempt, loadAttemptEnds, openAttempt } from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import type { AnnounceJob } from '../../db/jobs/job-changes.js'
import type { JobRun } from '../../db/jobs/jobs.js'
import { assertNever, type JobError } from '../../domain/errors.js'
import { waitAfterAttempt } from '../../domain/jobs/retry.js'
import type { GateEntrance } from '../../services/executor/gate.js'
import type { RunEnd } from '../../services/executor/stream.js'
import type { Waited } from '../../services/executor/wait.js'
import { liveOutput } from './live-output.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import type { FaultDeps } from './step.js'

export interface ExecuteDeps extends FaultDeps {
  db: Db
  gate: GateEntrance
  announce: AnnounceJob
  yieldsSlot?: boolean
  log: FaultDeps['log'] & { info(detail: object, message: string): void; warn(detail: object, message: string): void }
}

/**
 * `tasks`, `circuit`: the script waits for the work that it requested. `cancelling`: this worker has the claim on the job,
 * and the job is to be cancelled. `stopped`: this worker has lost its claim. `attempt` counts the lost executions, this one
 * included, without those that ended because the executor was shut down.
 */
export type Execution =
  | { outcome: 'completed'; resultSha256: string }
  | { outcome: 'tasks' | 'circuit'; ask: number }
  | { outcome: 'failed'; error: JobError }
  | { outcome: 'lost'; error: JobError; attempt: number }
  | { outcome: 'cancelling' }
  | { outcome: 'stopped' }

export function jobAttempt(
  deps: ExecuteDeps,
  jobId: string,
  job: JobRun,
  fence: Fence,
  signal: AbortSignal,
  open: () => Promise<number | null>
) {
  const retrying = { log: deps.log, jobId, signal }
  const ids = { jobId, teamId: job.teamId, requestId: job.requestId, generation: fence.generation }
  let attempt: number | null = null
  let fault: { error: unknown } | null = null
  return {
    /** What the program prints, recorded while the execution lasts. */
    output: liveOutput(deps, { jobId, task: '', signal }, async () => attempt),
    async accepted(): Promise<boolean> {
      try {
        attempt = await retryWhileDatabaseAway(retrying, open)
      } catch (error) {
        // The execution is stopped, and its end throws: here the error would be taken for one of the executor.
        fault = { error }
        return false
      }
      if (attempt !== null) deps.log.info({ ...ids, attempt }, 'job attempt begun')
      deps.announce(jobId)
      return attempt !== null
    },
    /**
     * `null` when the attempt could not be opened or is no longer open.
     * @param retried the job is durable: a lost execution is followed by another, up to a limit.
     */
    async ended(end: Waited<RunEnd>, retried: boolean): Promise<Execution | null> {
      if (fault) throw fault.error
      if (attempt !== null)
        deps.log.info(
          { ...ids, attempt, end: end.kind, ...('error' in end && { code: end.error.code }) },
          'job attempt ended'
        )
      return recordEnd(deps, jobId, attempt, end, signal, retried)
    }
  }
}

/** The attempt of a job whose progress is stored: it continues after its worker was lost. `null` when this one has lost it. */
export const currentOrNewAttempt = async ({ db }: Pick<ExecuteDeps, 'db'>, jobId: string, fence: Fence) =>
  (await attemptUnderWay(db, jobId, fence)) ?? openAttempt(db, jobId, fence)

/** Why a job has failed whose request the executor refused. */
export const refusedAs = ({ code, message }: Extract<Waited<RunEnd>, { kind: 'refused' }>): JobError => ({
  code: code ?? 'execution_error',
  message
})

/** The code of an attempt whose end is unknown. */
export const lossOf = ({ shutDown }: { shutDown?: true }) =>
  shutDown ? ('executor_shut_down' as const) : ('execution_service_lost' as const)

async function recordEnd(
  deps: ExecuteDeps,
  jobId: string,
  attempt: number | null,
  end: Waited<RunEnd>,
  signal: AbortSignal,
  retried: boolean
): Promise<Execution | null> {
  const retrying = { log: deps.log, jobId, signal }
  const close = (state: 'failed' | 'lost', error: JobError, backoffMs: number | null = null) =>
    attempt === null
      ? false
      : retryWhileDatabaseAway(retrying, () => closeAttempt(deps.db, jobId, attempt, state, error, backoffMs))
  switch (end.kind) {
    case 'completed': {
      if (attempt === null) return null
      const resultSha256 = await retryWhileDatabaseAway(retrying, () =>
        completeAttempt(deps.db, jobId, attempt, end.result, end.artifacts)
      )
      return resultSha256 ? { outcome: 'completed', resultSha256 } : null
    }
    case 'failed':
      await close('failed', end.error)
      return { outcome: 'failed', error: end.error }
    case 'refused':
      return { outcome: 'failed', error: refusedAs(end) }
    case 'lost': {
      if (attempt === null) return null
      const error = { code: lossOf(end), message: end.message }
      const before = await retryWhileDatabaseAway(retrying, () => loadAttemptEnds(deps.db, jobId, ''))
      const losses = before.filter((state) => state === 'lost').length + (end.shutDown ? 0 : 1)
      await close('lost', error, retried ? waitAfterAttempt(losses) : null)
      deps.announce(jobId)
      return { outcome: 'lost', error, attempt: losses }
    }
    default:
      return assertNever(end)
  }
}
