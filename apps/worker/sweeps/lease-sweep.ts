// Fails direct jobs whose worker no longer renews their leases. A sweep that was itself interrupted (start, database outage)
// first gives every worker time to renew: their silence may have had the same cause.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { sweepExpiredLeases } from '../../../db/job-steps/leases.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import { LEASE_GRACE_MS, LEASE_SWEEPER_AWAY_MS } from '../../../domain/jobs/lease.js'
import { createFailedRows } from './failed-rows.js'
import type { SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const JOBS_PER_PASS = 200

export interface LeaseSweepDeps {
  db: Db
  announce: AnnounceJob
  reports: SweepReports
  log: Logger
  everyMs: number
  /** Milliseconds on a monotonic clock. */
  clock(): number
}

export function startLeaseSweep({ db, announce, reports, log, everyMs, clock }: LeaseSweepDeps): TimerLoop {
  let lastSuccess = Number.NEGATIVE_INFINITY
  let graceUntil = 0
  const failures = createFailedRows(log, 'leases', { clock })
  async function pass() {
    const at = clock()
    if (at - lastSuccess > LEASE_SWEEPER_AWAY_MS) graceUntil = at + LEASE_GRACE_MS
    // During the grace time, a pass only checks that the database responds.
    const ended = await sweepExpiredLeases(db, at < graceUntil ? 0 : JOBS_PER_PASS, failures)
    lastSuccess = clock()
    for (const jobId of ended) {
      announce(jobId)
      log.warn({ jobId }, 'the worker of a direct job was lost; the job has failed')
    }
    return { more: ended.length === JOBS_PER_PASS, handled: ended.length, ...failures.take() }
  }
  return startLoop('leases', everyMs, log, pass, reports.of('leases', everyMs))
}
