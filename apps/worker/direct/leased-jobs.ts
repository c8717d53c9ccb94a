// The direct jobs that this process holds. Renews their leases every few seconds; learns there, or by a notice, that one
// is being cancelled or was taken away, and aborts its run.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { leaseStatus, renewLeases } from '../../../db/job-steps/leases.js'
import { startLoop } from '../sweeps/timer-loop.js'

/** Why a held job's signal was aborted. `stopping`: this worker ends before the job does. */
export type ReleaseReason = 'cancelled' | 'taken' | 'stopping'

export interface LeasedJobs {
  hold(jobId: string, lease: string): { signal: AbortSignal; release(): void }
  /** A notice said that the job changed. */
  noticed(jobId: string): void
  abortAll(reason: ReleaseReason): void
  close(): Promise<void>
}

export function createLeasedJobs(db: Db, renewMs: number, log: Logger): LeasedJobs {
  const held = new Map<string, { jobId: string; controller: AbortController }>()

  const judge = (lease: string, status: string | null | undefined) => {
    const job = held.get(lease)
    if (!job) return
    if (!status) job.controller.abort('taken' satisfies ReleaseReason)
    else if (status === 'cancelling') job.controller.abort('cancelled' satisfies ReleaseReason)
  }

  const renewing = startLoop('lease renewal', renewMs, log, async () => {
    const leases = [...held.keys()]
    const statuses = await renewLeases(db, leases)
    for (const lease of leases) judge(lease, statuses.get(lease))
    return false
  })

  return {
    hold(jobId, lease) {
      const controller = new AbortController()
      held.set(lease, { jobId, controller })
      return { signal: controller.signal, release: () => held.delete(lease) }
    },
    noticed(jobId) {
      for (const [lease, job] of held)
        if (job.jobId === jobId)
          leaseStatus(db, jobId, lease).then(
            (status) => judge(lease, status),
            () => {}
          )
    },
    abortAll(reason) {
      for (const { controller } of held.values()) controller.abort(reason)
    },
    close: () => renewing.close()
  }
}
