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
  abortAll(reason: ReleaseReason): void
  close(): Promise<void>
}

export function createLeasedJobs(db: Db, renewMs: number, log: Logger): LeasedJobs {
  const byLease = new Map<string, { jobId: string; run: AbortController; taken: AbortController }>()

  const applyStatus = (lease: string, status: string | null | undefined) => {
    const job = byLease.get(lease)
    if (!job) return
    if (!status) {
      job.taken.abort()
      job.run.abort('taken' satisfies ReleaseReason)
    } else if (status === 'cancelling') job.run.abort('cancelled' satisfies ReleaseReason)
  }

  const renewing = startLoop('lease renewal', renewMs, log, async () => {
    const leases = [...byLease.keys()]
    const statuses = await renewLeases(db, leases)
    for (const lease of leases) applyStatus(lease, statuses.get(lease))
    return false
  })

  return {
    add(jobId, lease) {
      const [run, taken] = [new AbortController(), new AbortController()]
      byLease.set(lease, { jobId, run, taken })
      return { signal: run.signal, taken: taken.signal, release: () => byLease.delete(lease) }
    },
    onJobChanged(jobId) {
      for (const [lease, job] of byLease)
        if (job.jobId === jobId)
          leaseStatus(db, jobId, lease).then(
            (status) => applyStatus(lease, status),
            () => {}
          )
    },
    abortAll(reason) {
      for (const { run } of byLease.values()) run.abort(reason)
    },
    close: () => renewing.close()
  }
}
