// Runs direct jobs, each at most once, as many as the BullMQ queue has entries. AT-LEAST-ONCE DELIVERY: an entry may come
// twice or late; the claim in Postgres decides, and an error of the queue never changes a job. Which job an entry starts is
// a matter of turns (claim-turns.ts). The lease sweep fails a job whose worker dies (worker_lost).
import { randomUUID } from 'node:crypto'
import { type Job, WaitingError, Worker } from 'bullmq'
import pTimeout from 'p-timeout'
import type { Logger } from 'pino'
import { executeJob } from '../../../activities/job/execute-job.js'
import { type ExecuteDeps, refusedAs } from '../../../activities/job/job-attempt.js'
import { FinalFault, retryWhileDatabaseAway } from '../../../activities/job/retry-while-database-away.js'
import { callOf } from '../../../activities/job/run-request.js'
import { recordFault } from '../../../activities/job/step.js'
import { type DirectStart, isToStart } from '../../../db/job-steps/direct-starts.js'
import {
  type Beginning,
  beginJob,
  completeJob,
  failJob,
  failUnclaimed,
  recordCancelled
} from '../../../db/job-steps/job-steps.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { DIRECT_QUEUE, type JobHandOver } from '../../../domain/jobs/dispatch.js'
import { errorKind } from '../../../domain/operations/error-kind.js'
import type { ExecutorGate } from '../../../services/executor/gate.js'
import { type HeldSeat, holdSeat } from '../../../services/executor/wait.js'
import { openRedis } from '../../../services/redis/redis-connection.js'
import type { RedisSettings } from '../../../services/redis/redis-settings.js'
import { type ClaimTurns, createClaimTurns } from './claim-turns.js'
import type { LeasedJobs, ReleaseReason } from './leased-jobs.js'
import type { AroundDirect } from './spans.js'

/** A claim that meets conflicts is given up after this time; the relay delivers the job again. */
const CLAIM_MS = 60_000
/** Aborted jobs record their end within this time. */
const ABORT_MS = 5_000
/**
 * A Redis that is connected and does not respond is left after this time, for another one or a new connection. Longer than the
 * 5 s for which BullMQ lets Redis wait for an entry.
 */
const HUNG_MS = 10_000
/** What still waits for Redis after that is left to the end of the process. */
const DISCONNECT_MS = 1_000
/** Entries taken beyond the executors' permits, so that a freed permit never waits for the queue. */
const PREFETCH = 2

export interface DirectConsumer {
  setPermits(permits: number): void
  isReady(): boolean
  /** Waits `graceMs` for the jobs under way, then aborts them as lost. */
  close(graceMs: number): Promise<void>
}

export function startDirectConsumer(
  deps: DirectDeps,
  options: { redis: RedisSettings; prefix: string; around: AroundDirect; log: Logger }
): DirectConsumer {
  const { around, log } = options
  const turns = createClaimTurns(deps.db, deps.gate)
  const startedForOthers: StartedForOthers = new Set()
  const run = async (entry: Job<JobHandOver>, token: string | undefined) => {
    if (await runEntry({ ...deps, startedForOthers }, turns, entry.data, around, log)) return
    // The worker stops before: the entry is another worker's.
    await entry.moveToWait(token)
    throw new WaitingError()
  }
  const redis = openRedis(options.redis, { maxRetriesPerRequest: null, socketTimeout: HUNG_MS })
  const worker = new Worker<JobHandOver>(DIRECT_QUEUE, run, {
    connection: redis,
    prefix: options.prefix,
    concurrency: deps.gate.permits + PREFETCH,
    // With the default of 1, a worker that is killed has its entry run again.
    maxStalledCount: 0,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 }
  })
  worker.on('error', (err) => log.warn({ err }, 'direct queue'))
  worker.on('failed', (entry, err) => log.warn({ jobId: entry?.data.jobId, err }, 'direct queue entry failed'))
  return {
    setPermits(permits) {
      worker.concurrency = permits + PREFETCH
    },
    isReady: () => worker.isRunning() && !worker.isPaused(),
    async close(graceMs) {
      const closing = worker.close()
      turns.close()
      const finished = await endsWithin(closing, graceMs)
      if (!finished) {
        deps.leased.abortAll('stopping')
        await endsWithin(closing, ABORT_MS)
      }
      // Commands to a Redis that is away have no limit of their own, and BullMQ can wait for its second connection for ever.
      redis.disconnect()
      await endsWithin(closing, DISCONNECT_MS)
    }
  }
}

const endsWithin = (work: Promise<unknown>, milliseconds: number): Promise<boolean> =>
  pTimeout(
    work.then(() => true),
    { milliseconds, fallback: () => false }
  )

/**
 * Runs jobs until that of the entry has started, here or elsewhere: an entry that gives its turn to another job is not lost.
 * @returns `false` when the worker stops before.
 */
async function runEntry(
  deps: DirectDeps & { startedForOthers: StartedForOthers },
  turns: ClaimTurns,
  entry: JobHandOver,
  around: AroundDirect,
  log: Logger
): Promise<boolean> {
  while (true) {
    const place = await turns.place()
    if (!place) return false
    try {
      const lease = randomUUID()
      const claimed = await turns.next(entry.jobId, {
        hold: async (next, signal) => {
          const seat = await hold(deps, next, signal)
          if (seat) place.admitted()
          return seat
        },
        claim: (next) => claim(deps, next, lease)
      })
      if (!claimed) return !turns.isClosed()
      const { start, seat } = claimed
      const isOwn = start.jobId === entry.jobId
      if (!isOwn) noteStarted(deps.startedForOthers, start.jobId)
      await around(start, () => runDirect({ ...deps, gate: seat.gate }, start, lease, log)).finally(seat.release)
      if (isOwn || deps.startedForOthers.delete(entry.jobId) || !(await isToStart(deps.db, entry.jobId))) return true
    } finally {
      place.leave()
    }
  }
}

/**
 * Jobs that this worker has started while their own entries were still in the queue. Each of these entries would otherwise ask
 * the database whether its job has started.
 */
type StartedForOthers = Set<string>

/** Entries that another worker takes are never met here. */
const STARTED_MAX = 10_000

function noteStarted(started: StartedForOthers, jobId: string): void {
  const [oldest] = started
  if (oldest !== undefined && started.size >= STARTED_MAX) started.delete(oldest)
  started.add(jobId)
}

/** A job that has waited for an absent executor too long fails without having been claimed. */
async function hold(deps: DirectDeps, start: DirectStart, signal: AbortSignal): Promise<HeldSeat | null> {
  const { jobId, generation } = start
  const held = await holdSeat(deps, callOf(start, jobId), signal)
  if (!('kind' in held)) return held
  const retrying = { log: deps.log, jobId, signal: AbortSignal.any([signal, AbortSignal.timeout(CLAIM_MS)]) }
  await retryWhileDatabaseAway(retrying, () => failUnclaimed(deps.db, jobId, { generation }, refusedAs(held)))
  deps.announce(jobId)
  return null
}

async function claim(deps: DirectDeps, { jobId, generation }: JobHandOver, lease: string): Promise<boolean> {
  // The lease belongs to this call alone: anything but a fresh claim belongs to another worker.
  const beginning = await claimed(deps, jobId, { generation, lease })
  deps.announce(jobId)
  // `resume` can only be an earlier try of this call: the lease is its own.
  return beginning === 'begin' || beginning === 'resume'
}

type RunDeps = ExecuteDeps & { leased: LeasedJobs }
type DirectDeps = ExecuteDeps & { gate: ExecutorGate; leased: LeasedJobs }

async function runDirect(deps: RunDeps, { jobId, generation }: JobHandOver, lease: string, log: Logger): Promise<void> {
  const { announce, leased } = deps
  const fence: Fence = { generation, lease }
  // Not before the claim: a check of the lease would find none and take the job for lost.
  const { signal, taken, release } = leased.add(jobId, lease)
  try {
    const end = await endOf(deps, jobId, fence, signal)
    // The end of a run is written even when the database is away for a while, unless the job is taken away first.
    const retrying = { log, jobId, signal: taken }
    if (end)
      await retryWhileDatabaseAway(retrying, end)
        .catch((error) => {
          if (taken.aborted) throw error
          const fault = recordFault(deps, 'direct end', { jobId }, error)
          return retryWhileDatabaseAway(retrying, () => failJob(deps.db, jobId, fence, fault))
        })
        .catch((error) => {
          if (!taken.aborted) throw error
        })
    announce(jobId)
  } finally {
    release()
  }
}

/**
 * Claims the job. While the database is away the entry fails, and the relay delivers another; a fault ends the job, since
 * every delivery would meet it.
 */
async function claimed(deps: ExecuteDeps, jobId: string, fence: Fence): Promise<Beginning> {
  const claim = () => beginJob(deps.db, jobId, fence)
  const retrying = { log: deps.log, jobId, signal: AbortSignal.timeout(CLAIM_MS) }
  try {
    return await claim().catch((error: unknown) => {
      if (errorKind(error) === 'away') throw error
      return retryWhileDatabaseAway(retrying, claim)
    })
  } catch (error) {
    if (!(error instanceof FinalFault)) throw error
    const fault = recordFault(deps, 'direct begin', { jobId }, error)
    await retryWhileDatabaseAway(retrying, () => failUnclaimed(deps.db, jobId, fence, fault))
    return 'stop'
  }
}

type LastStep = () => Promise<unknown>

/** The write that records how the run ended; `null` when that is recorded, or this worker has lost its claim on the job. */
async function endOf(deps: ExecuteDeps, jobId: string, fence: Fence, signal: AbortSignal): Promise<LastStep | null> {
  const { db } = deps
  try {
    const execution = await executeJob(deps, jobId, fence, signal, { isFirst: true })
    switch (execution.outcome) {
      case 'completed':
        return execution.ended ? null : () => completeJob(db, jobId, fence, execution.resultSha256)
      case 'failed':
      case 'lost':
        return () => failJob(db, jobId, fence, execution.error)
      case 'cancelling':
        return () => recordCancelled(db, jobId, fence, 'stopped_before_provider')
      case 'stopped':
        return null
      case 'tasks':
      case 'circuit':
        throw new Error('a direct job requested work outside its process')
    }
  } catch (error) {
    const reason = signal.aborted ? (signal.reason as ReleaseReason) : null
    if (reason === 'taken') return null
    if (reason === 'cancelled') return () => recordCancelled(db, jobId, fence, 'stopped_before_provider')
    if (reason === 'stopping')
      return () =>
        failJob(db, jobId, fence, { code: 'worker_lost', message: 'the worker was stopped before the job ended' })
    const fault = recordFault(deps, 'direct execute', { jobId }, error)
    return () => failJob(db, jobId, fence, fault)
  }
}
