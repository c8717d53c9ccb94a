// Runs direct jobs, each at most once, as many as the BullMQ queue has entries. AT-LEAST-ONCE DELIVERY: an entry may come
// twice or late; the claim in Postgres decides, and an error of the queue never changes a job. Which job an entry starts is
// a matter of turns (claim-turns.ts). The lease sweep fails a job whose worker dies (worker_lost).
import { randomUUID } from 'node:crypto'
import { type ConnectionOptions, type Job, WaitingError, Worker } from 'bullmq'
import pTimeout from 'p-timeout'
import type { Logger } from 'pino'
import { executeJob } from '../../../activities/job/execute-job.js'
import type { ExecuteDeps } from '../../../activities/job/job-attempt.js'
import { retryWhileDatabaseAway } from '../../../activities/job/retry-while-database-away.js'
import { beginJob, completeJob, failJob, recordCancelled } from '../../../db/job-steps/job-steps.js'
import { isToStart } from '../../../db/jobs/direct-starts.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { DIRECT_QUEUE, type JobHandOver } from '../../../domain/jobs/dispatch.js'
import type { ExecutorGate } from '../../../services/executor/gate.js'
import { type ClaimPlace, type ClaimTurns, createClaimTurns } from './claim-turns.js'
import type { LeasedJobs, ReleaseReason } from './leased-jobs.js'
import type { AroundDirect } from './spans.js'

/** Aborted jobs record their end within this time. */
const ABORT_MS = 5_000
/** Entries taken beyond the executor's permits, so that a freed permit never waits for the queue. They have claimed one job. */
const PREFETCH = 2

export interface DirectConsumer {
  setPermits(permits: number): void
  isReady(): boolean
  /** Waits `graceMs` for the jobs under way, then aborts them as lost. */
  close(graceMs: number): Promise<void>
}

export function startDirectConsumer(
  deps: DirectDeps,
  options: { connection: ConnectionOptions; prefix: string; permits: number; around: AroundDirect; log: Logger }
): DirectConsumer {
  const { around, log } = options
  const turns = createClaimTurns(deps.db, deps.gate)
  const run = async (entry: Job<JobHandOver>, token: string | undefined) => {
    if (await runEntry(deps, turns, entry.data, around, log)) return
    // The worker stops before: the entry is another worker's.
    await entry.moveToWait(token)
    throw new WaitingError()
  }
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
      turns.close()
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

/**
 * Runs jobs until that of the entry has begun, here or elsewhere: an entry that gives its turn to another job is not lost.
 * @returns `false` when the worker stops before.
 */
async function runEntry(
  deps: DirectDeps,
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
      const start = await turns.next(entry.jobId, (next) => claim(deps, next, lease))
      if (!start) return !turns.isClosed()
      await around(start, () => runDirect(withPlace(deps, place), start, lease, log))
      if (start.jobId === entry.jobId || !(await isToStart(deps.db, entry.jobId))) return true
    } finally {
      place.leave()
    }
  }
}

async function claim({ db, announce }: DirectDeps, { jobId, generation }: JobHandOver, lease: string) {
  const beginning = await beginJob(db, jobId, { generation, lease })
  announce(jobId)
  // The lease belongs to this call alone: anything but a fresh claim belongs to another worker.
  return beginning === 'begin'
}

type RunDeps = ExecuteDeps & { leased: LeasedJobs }
type DirectDeps = ExecuteDeps & { gate: ExecutorGate; leased: LeasedJobs }

/** The job has its permit: the next one can be claimed. */
const withPlace = (deps: DirectDeps, place: ClaimPlace): RunDeps => ({
  ...deps,
  gate: {
    hasRoom: deps.gate.hasRoom,
    noteResponse: deps.gate.noteResponse,
    enter: async (owner, signal) => {
      const leave = await deps.gate.enter(owner, signal)
      place.admitted()
      return leave
    }
  }
})

async function runDirect(deps: RunDeps, { jobId, generation }: JobHandOver, lease: string, log: Logger): Promise<void> {
  const { announce, leased } = deps
  const fence: Fence = { generation, lease }
  // Not before the claim: a look at the lease would find none and take the job for lost.
  const { signal, taken, release } = leased.add(jobId, lease)
  try {
    const end = await endOf(deps, jobId, fence, signal, log)
    // The end of a run is written even when the database is away for a while, unless the job is taken away first.
    if (end)
      await retryWhileDatabaseAway({ log, jobId, signal: taken }, end).catch((error) => {
        if (!taken.aborted) throw error
      })
    announce(jobId)
  } finally {
    release()
  }
}

type LastStep = () => Promise<unknown>

/** The write that records how the run ended; `null` when this worker has lost its claim on the job. */
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
        throw new Error('a direct job requested work outside its process')
    }
  } catch (error) {
    const reason = signal.aborted ? (signal.reason as ReleaseReason) : null
    if (reason === 'taken') return null
    if (reason === 'cancelled') return () => recordCancelled(db, jobId, fence, 'stopped_before_provider')
    if (reason === 'stopping')
      return () =>
        failJob(db, jobId, fence, { code: 'worker_lost', message: 'the worker was stopped before the job ended' })
    log.error({ jobId, err: error }, 'a direct job failed because of an internal error')
    return () => failJob(db, jobId, fence, { code: 'internal_error', message: 'the job ended by an internal error' })
  }
}
