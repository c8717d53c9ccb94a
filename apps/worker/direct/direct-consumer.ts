// Runs direct jobs from the BullMQ queue, each at most once. AT-LEAST-ONCE DELIVERY: an entry may come twice or late; the
// claim in Postgres decides, and an error of the queue never changes a job. The lease sweep fails a job whose worker dies
// (worker_lost).
import { randomUUID } from 'node:crypto'
import { type ConnectionOptions, type Job, Worker } from 'bullmq'
import pTimeout from 'p-timeout'
import type { Logger } from 'pino'
import { executeJob } from '../../../activities/job/execute-job.js'
import type { ExecuteDeps } from '../../../activities/job/job-attempt.js'
import { FinalFault, retryWhileDatabaseAway } from '../../../activities/job/retry-while-database-away.js'
import { recordFault } from '../../../activities/job/step.js'
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
import type { LeasedJobs, ReleaseReason } from './leased-jobs.js'
import type { AroundDirect } from './spans.js'

/** A claim that meets conflicts is given up after this time; the relay delivers the job again. */
const CLAIM_MS = 60_000
/** Aborted jobs record their end within this time. */
const ABORT_MS = 5_000
/** Entries taken beyond the executor's permits, so that a freed permit never waits for the queue. */
const PREFETCH = 2

export interface DirectConsumer {
  setPermits(permits: number): void
  isReady(): boolean
  /** Waits `graceMs` for the jobs under way, then aborts them as lost. */
  close(graceMs: number): Promise<void>
}

export function startDirectConsumer(
  deps: ExecuteDeps & { leased: LeasedJobs },
  options: { connection: ConnectionOptions; prefix: string; permits: number; around: AroundDirect; log: Logger }
): DirectConsumer {
  const { around, log } = options
  const run = ({ data }: Job<JobHandOver>) => around(data, () => runDirect(deps, data, log))
  const worker = new Worker<JobHandOver>(DIRECT_QUEUE, run, {
    connection: options.connection,
    prefix: options.prefix,
    concurrency: options.permits + PREFETCH,
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
      const finished = await endsWithin(closing, graceMs)
      if (!finished) {
        deps.leased.abortAll('stopping')
        await endsWithin(closing, ABORT_MS)
        await worker.close(true)
      }
    }
  }
}

const endsWithin = (work: Promise<unknown>, milliseconds: number): Promise<boolean> =>
  pTimeout(
    work.then(() => true),
    { milliseconds, fallback: () => false }
  )

async function runDirect(
  deps: ExecuteDeps & { leased: LeasedJobs },
  handOver: JobHandOver,
  log: Logger
): Promise<void> {
  const { announce, leased } = deps
  const { jobId, generation } = handOver
  const lease = randomUUID()
  const fence: Fence = { generation, lease }
  // The lease belongs to this call alone: anything but a fresh claim belongs to another worker.
  const beginning = await claimed(deps, jobId, fence)
  announce(jobId)
  // `resume` can only be an earlier try of this call: the lease is its own.
  if (beginning !== 'begin' && beginning !== 'resume') return
  // Not before the claim: a look at the lease would find none and take the job for lost.
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

/** The write that records how the run ended; `null` when this worker has lost its claim on the job. */
async function endOf(deps: ExecuteDeps, jobId: string, fence: Fence, signal: AbortSignal): Promise<LastStep | null> {
  const { db } = deps
  try {
    const execution = await executeJob(deps, jobId, fence, signal)
    switch (execution.outcome) {
      case 'completed':
        return () => completeJob(db, jobId, fence, execution.resultSha256)
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
