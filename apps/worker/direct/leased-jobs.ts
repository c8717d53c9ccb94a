// The direct jobs that this process has leased. Renews their leases every few seconds. A renewal, or a notification, shows
// that a job is being cancelled or was taken away; its run is then aborted.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { leaseStatus, renewLeases } from '../../../db/job-steps/leases.js'
import { startLoop } from '../sweeps/timer-loop.js'

/** Why a leased job's signal was aborted. `stopping`: this worker stops before the job has finished. */
export type ReleaseReason = 'cancelled' | 'taken' | 'stopping'

export interface LeasedJob {
  /** Aborts the run, with a `ReleaseReason`. */
  signal: AbortSignal
  /** Aborts when this worker has lost its claim, and for no other reason. */
  taken: AbortSignal
  release(): void
}

export interface LeasedJobs {
  add(jobId: string, lease: string): LeasedJob
  /** A notification says that the job has changed. */
  onJobChanged(jobId: string): void
  /** This process sends a notification itself, which will come back to it and says nothing new. */
  onJobAnnounced(jobId: string): void
  abortAll(reason: ReleaseReason): void
  close(): Promise<void>
}

export function createLeasedJobs(db: Db, renewMs: number, log: Logger): LeasedJobs {
  const byLease = new Map<string, { jobId: string; run: AbortController; taken: AbortController; own: number }>()

  const applyStatus = (lease: string, status: string | null | undefined) => {
    const job = byLease.get(lease)
    if (!job) return
    if (!status) {
      job.taken.abort()
      job.run.abort('taken' satisfies ReleaseReason)
    } else if (status === 'cancelling') job.run.abort('cancelled' satisfies ReleaseReason)
  }

  /** Which one came first, its own or another's, makes no difference: after the other one the status is read. */
  const isOwn = (job: { own: number }): boolean => {
    if (job.own === 0) return false
    job.own--
    return true
  }

  const renewing = startLoop('lease renewal', renewMs, log, async () => {
    const leases = [...byLease.keys()]
    const statuses = await renewLeases(db, leases)
    // A notification that got lost is not waited for: another's could be taken for it.
    for (const job of byLease.values()) job.own = 0
    for (const lease of leases) applyStatus(lease, statuses.get(lease))
    return false
  })

  return {
    add(jobId, lease) {
      const [run, taken] = [new AbortController(), new AbortController()]
      byLease.set(lease, { jobId, run, taken, own: 0 })
      return { signal: run.signal, taken: taken.signal, release: () => byLease.delete(lease) }
    },
    onJobChanged(jobId) {
      for (const [lease, job] of byLease)
        if (job.jobId === jobId && !isOwn(job))
          leaseStatus(db, jobId, lease).then(
            (status) => applyStatus(lease, status),
            () => {}
          )
    },
    onJobAnnounced(jobId) {
      for (const job of byLease.values()) if (job.jobId === jobId) job.own++
    },
    abortAll(reason) {
      for (const { run } of byLease.values()) run.abort(reason)
    },
    close: () => renewing.close()
  }
}
