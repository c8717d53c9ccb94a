// The attempt of a job under way: opened when the executor accepts an execution, closed with its outcome.

import { performance } from 'node:perf_hooks'
import type { Db } from '../../db/client.js'
import { completePlainly, type EndingAttempt } from '../../db/job-steps/plain-end.js'
import type { RunOutcome } from '../../db/jobs/artifacts.js'
import {
  type AttemptOf,
  attemptUnderWay,
  closeAttempt,
  completeAttempt,
  loadAttemptEnds,
  openAttempt
} from '../../db/jobs/attempts.js'
import type { Fence } from '../../db/jobs/fence.js'
import type { AnnounceJob } from '../../db/jobs/job-changes.js'
import type { JobRun } from '../../db/jobs/jobs.js'
import { assertNever, type JobError } from '../../domain/errors.js'
import { waitAfterAttempt } from '../../domain/jobs/retry.js'
import type { GateEntrance } from '../../services/executor/gate.js'
import type { RunEnd } from '../../services/executor/stream.js'
import type { Waited } from '../../services/executor/wait.js'
import { type LiveOutput, liveOutput } from './live-output.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'
import type { FaultDeps } from './step.js'

export interface ExecuteDeps extends FaultDeps {
  db: Db
  gate: GateEntrance
  announce: AnnounceJob
  /** The same for changes of a job's tasks, which are many; default: `announce`. */
  announceTasks?: AnnounceJob
  yieldsSlot?: boolean
  log: FaultDeps['log'] & { info(detail: object, message: string): void; warn(detail: object, message: string): void }
}

/**
 * `tasks`, `circuit`: the script waits for the work that it requested. `cancelling`: this worker has the claim on the job,
 * and the job is to be cancelled. `stopped`: this worker has lost its claim. `attempt` counts the lost executions, this one
 * included, without those that ended because the executor was shut down. `ended`: the job is completed as well.
 */
export type Execution =
  | { outcome: 'completed'; resultSha256: string; ended: boolean }
  | { outcome: 'tasks' | 'circuit'; ask: number }
  | { outcome: 'failed'; error: JobError }
  | { outcome: 'lost'; error: JobError; attempt: number }
  | { outcome: 'cancelling' }
  | { outcome: 'stopped' }

/** The job whose attempt it is, and what its worker knows of it. */
export interface Attempted {
  jobId: string
  job: JobRun
  fence: Fence
  /** Aborts when the job is cancelled or the worker stops. */
  signal: AbortSignal
}

type End = Waited<RunEnd>

/** An execution of a job from its acceptance to its end, as the rows record it. */
export interface JobAttempt {
  /** Aborts the execution. */
  signal: AbortSignal
  /** What the program prints, recorded while the execution lasts. */
  output: Pick<LiveOutput, 'printed'> & { during(execution: Promise<End>): Promise<End> }
  /** Returns `false` when this worker has lost the job: the execution is then stopped. */
  accepted(): Promise<boolean>
  /**
   * `null` when the attempt could not be opened or is no longer open.
   * @param retried the job is durable: a lost execution is followed by another, up to a limit.
   */
  ended(end: End, retried: boolean): Promise<Execution | null>
}

/** An attempt that is recorded when the executor accepts the execution. */
export function jobAttempt(
  deps: ExecuteDeps,
  attempted: Attempted,
  open: () => Promise<number | null>
): JobAttempt & { output: LiveOutput } {
  const { jobId, signal } = attempted
  let attempt: number | null = null
  let fault: { error: unknown } | null = null
  return {
    signal,
    output: liveOutput(deps, { jobId, task: '', signal }, async () => attempt),
    async accepted() {
      try {
        attempt = await opened(deps, attempted, open)
      } catch (error) {
        // The execution is stopped, and its end throws: here the error would be taken for one of the executor.
        fault = { error }
        return false
      }
      return attempt !== null
    },
    async ended(end, retried) {
      if (fault) throw fault.error
      return recordEnd(deps, attempted, attempt, end, retried)
    }
  }
}

/** An execution that completes before this is recorded once, with its end. */
const RECORDED_AFTER_MS = 250

/**
 * The first attempt of a job, for which a short execution needs no commit of its own: it is recorded before its end only if it
 * lasts, if its program prints, or if it ends in another way than completed. A worker that dies before that leaves no trace of
 * it. So no execution may have been tried before: those that lose their workers are counted.
 */
export function briefAttempt(deps: ExecuteDeps, attempted: Attempted): JobAttempt {
  const { jobId, fence, signal } = attempted
  const taken = new AbortController()
  let acceptedAt: number | null = null
  let opening: Promise<number | null> | null = null
  let timer: NodeJS.Timeout | undefined
  const ranMs = () => performance.now() - (acceptedAt ?? performance.now())
  const open = () => currentOrNewAttempt(deps, jobId, fence, { statuses: ['running', 'cancelling'], ranMs: ranMs() })
  const record = (): Promise<number | null> => {
    clearTimeout(timer)
    opening ??= opened(deps, attempted, open)
    return opening
  }
  /** Stops the execution if it cannot be recorded; its end then says why. */
  const recordOrStop = () =>
    record().then(
      (number) => {
        if (number === null) taken.abort()
      },
      () => taken.abort()
    )
  const output = liveOutput(deps, { jobId, task: '', signal }, record)
  return {
    signal: AbortSignal.any([signal, taken.signal]),
    output: {
      printed: output.printed,
      async during(execution) {
        try {
          return await output.during(execution)
        } catch (error) {
          // Before the step that ends the job, which closes it.
          if (acceptedAt !== null) await recordOrStop()
          if (taken.signal.aborted && !signal.aborted)
            return { kind: 'lost', message: 'the job was taken from this worker' }
          throw error
        }
      }
    },
    async accepted() {
      acceptedAt = performance.now()
      timer = setTimeout(recordOrStop, RECORDED_AFTER_MS)
      return true
    },
    async ended(end, retried) {
      clearTimeout(timer)
      if (acceptedAt === null) return recordEnd(deps, attempted, null, end, retried)
      if (end.kind === 'completed' && opening === null && attempted.job.endsPlainly) {
        deps.log.info({ ...idsOf(attempted), attempt: 1 }, 'job attempt begun')
        deps.log.info({ ...idsOf(attempted), attempt: 1, end: end.kind }, 'job attempt ended')
        const outcome = { result: end.result, files: end.artifacts }
        const completed = await completedPlainly(deps, attempted, { ranMs: ranMs() }, outcome)
        if (completed) return completed
      }
      return recordEnd(deps, attempted, await record(), end, retried)
    }
  }
}

/** @returns the number of the attempt; `null` when this worker has lost the job. */
async function opened(
  deps: ExecuteDeps,
  attempted: Attempted,
  open: () => Promise<number | null>
): Promise<number | null> {
  const attempt = await retryWhileDatabaseAway({ log: deps.log, ...attempted }, open)
  if (attempt !== null) deps.log.info({ ...idsOf(attempted), attempt }, 'job attempt begun')
  deps.announce(attempted.jobId)
  return attempt
}

const idsOf = ({ jobId, job, fence }: Attempted) => ({
  jobId,
  teamId: job.teamId,
  requestId: job.requestId,
  generation: fence.generation
})

/** The attempt of a job whose progress is stored: it continues after its worker was lost. `null` when this one has lost it. */
export const currentOrNewAttempt = async (
  { db }: Pick<ExecuteDeps, 'db'>,
  jobId: string,
  fence: Fence,
  attempt: AttemptOf = {}
) => (await attemptUnderWay(db, jobId, fence)) ?? openAttempt(db, jobId, fence, attempt)

/** Why a job has failed whose request the executor refused. */
export const refusedAs = ({ code, message }: Extract<Waited<RunEnd>, { kind: 'refused' }>): JobError => ({
  code: code ?? 'execution_error',
  message
})

/** The code of an attempt whose end is unknown. */
export const lossOf = ({ shutDown }: { shutDown?: true }) =>
  shutDown ? ('executor_shut_down' as const) : ('execution_service_lost' as const)

/** @param attempt `null` when it was not accepted, or this worker has lost the job. */
async function recordEnd(
  deps: ExecuteDeps,
  attempted: Attempted,
  attempt: number | null,
  end: End,
  retried: boolean
): Promise<Execution | null> {
  const { jobId } = attempted
  const retrying = { log: deps.log, ...attempted }
  const close = (state: 'failed' | 'lost', error: JobError, backoffMs: number | null = null) =>
    attempt === null
      ? false
      : retryWhileDatabaseAway(retrying, () => closeAttempt(deps.db, jobId, attempt, state, error, backoffMs))
  if (attempt !== null)
    deps.log.info(
      { ...idsOf(attempted), attempt, end: end.kind, ...('error' in end && { code: end.error.code }) },
      'job attempt ended'
    )
  switch (end.kind) {
    case 'completed':
      return attempt === null
        ? null
        : recordResult(deps, attempted, attempt, { result: end.result, files: end.artifacts })
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

/** Stores the result of an open attempt. `null` when it is no longer open. */
export async function recordResult(
  deps: ExecuteDeps,
  attempted: Attempted,
  number: number,
  outcome: RunOutcome
): Promise<Execution | null> {
  const completed = await completedPlainly(deps, attempted, { number }, outcome)
  if (completed) return completed
  const resultSha256 = await retryWhileDatabaseAway({ log: deps.log, ...attempted }, () =>
    completeAttempt(deps.db, attempted.jobId, number, outcome.result, outcome.files)
  )
  return resultSha256 ? { outcome: 'completed', resultSha256, ended: false } : null
}

/** `null` when more is due at the end of the job than its status, or another writer was first. */
async function completedPlainly(
  deps: ExecuteDeps,
  attempted: Attempted,
  attempt: EndingAttempt,
  outcome: RunOutcome
): Promise<Execution | null> {
  const { jobId, job, fence } = attempted
  if (!job.endsPlainly) return null
  const resultSha256 = await retryWhileDatabaseAway({ log: deps.log, ...attempted }, () =>
    completePlainly(deps.db, jobId, fence, attempt, outcome)
  )
  return resultSha256 ? { outcome: 'completed', resultSha256, ended: true } : null
}
