// Runs direct jobs from the BullMQ queue, each at most once. AT-LEAST-ONCE DELIVERY: an entry may come twice or late; the
// claim in Postgres decides, and an error of the queue never changes a job. A job whose worker dies is ended by the lease
// sweep (worker_lost).
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, type Job, Worker } from 'bullmq'
import type { Logger } from 'pino'
import { executeJob } from '../../../activities/job/execute-job.js'
import type { ExecuteDeps } from '../../../activities/job/job-attempt.js'
import { beginJob, completeJob, failJob, recordCancelled } from '../../../db/job-steps/job-steps.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { DIRECT_QUEUE, type JobHandOver } from '../../../domain/jobs/dispatch.js'
import type { LeasedJobs, ReleaseReason } from './leased-jobs.js'
import type { AroundDirect } from './spans.js'

/** Entries taken beyond the executor's permits, so that a freed permit never waits for the queue. */
const PREFETCH = 2

export interface DirectConsumer {
  setPermits(permits: number): void
  isReady(): boolean
  /** Waits `graceMs` for the jobs under way, then ends them as lost. */
  close(graceMs: number): Promise<void>
}

export function startDirectConsumer(
  deps: ExecuteDeps & { held: LeasedJobs },
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
      const ended = await Promise.race([closing.then(() => true), sleep(graceMs, false, { ref: false })])
      if (!ended) {
        deps.held.abortAll('stopping')
        await Promise.race([closing, sleep(5_000, undefined, { ref: false })])
        await worker.close(true)
      }
    }
  }
}

async function runDirect(deps: ExecuteDeps & { held: LeasedJobs }, handOver: JobHandOver, log: Logger): Promise<void> {
  const { db, announce, held } = deps
  const { jobId, generation } = handOver
  const lease = randomUUID()
  const fence: Fence = { generation, lease }
  // The lease is of this call alone, so anything but a fresh claim belongs to somebody else.
  const beginning = await beginJob(db, jobId, fence)
  announce(jobId)
  if (beginning !== 'begin') return
  // Held only now: before the claim, a look at the lease would find none and take the job for lost.
  const { signal, release } = held.hold(jobId, lease)
  try {
    const end = await endOf(deps, jobId, fence, signal, log)
    if (end) await untilWritten(signal, log, jobId, end)
    announce(jobId)
  } finally {
    release()
  }
}

type LastStep = () => Promise<unknown>

/** What to write when the run is over; `null` when the job is no longer ours. */
async function endOf(
  deps: ExecuteDeps,
  jobId: string,
  fence: Fence,
  signal: AbortSignal,
  log: Logger
): Promise<LastStep | null> {
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
        throw new Error('a direct job asked for something that is not done in its process')
    }
  } catch (error) {
    const reason = signal.aborted ? (signal.reason as ReleaseReason) : null
    if (reason === 'taken') return null
    if (reason === 'cancelled') return () => recordCancelled(db, jobId, fence, 'stopped_before_provider')
    if (reason === 'stopping')
      return () =>
        failJob(db, jobId, fence, { code: 'worker_lost', message: 'the worker was stopped before the job ended' })
    log.error({ jobId, err: error }, 'direct job failed by a fault of ours')
    return () => failJob(db, jobId, fence, { code: 'internal_error', message: 'the job ended by an internal error' })
  }
}

/** The end of a run is written even if the database is away for a while, unless the job is taken away meanwhile. */
async function untilWritten(signal: AbortSignal, log: Logger, jobId: string, write: LastStep): Promise<void> {
  for (let waitMs = 200; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      await write()
      return
    } catch (err) {
      if (signal.aborted && signal.reason === 'taken') return
      log.warn({ jobId, err }, 'database away; keeping the end of the job until it is back')
      await sleep(waitMs)
    }
  }
}
