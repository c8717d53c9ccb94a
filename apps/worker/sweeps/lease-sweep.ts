// Ends direct jobs whose worker went silent. A sweeper that was itself away (start, database outage) first gives every
// worker the time to renew: their silence may have had the same cause as its own.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { sweepExpiredLeases } from '../../../db/job-steps/leases.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import { LEASE_GRACE_MS, LEASE_SWEEPER_AWAY_MS } from '../../../domain/jobs/lease.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const JOBS_PER_PASS = 200

export interface LeaseSweepDeps {
  db: Db
  announce: AnnounceJob
  notes: SweepNotes
  log: Logger
  everyMs: number
  /** Milliseconds of a monotonic clock. */
  clock(): number
}

export function startLeaseSweep({ db, announce, notes, log, everyMs, clock }: LeaseSweepDeps): TimerLoop {
  let lastSuccess = Number.NEGATIVE_INFINITY
  let graceUntil = 0
  async function pass() {
    const at = clock()
    if (at - lastSuccess > LEASE_SWEEPER_AWAY_MS) graceUntil = at + LEASE_GRACE_MS
    // In the grace time a pass only finds out whether the database answers.
    const ended = await sweepExpiredLeases(db, at < graceUntil ? 0 : JOBS_PER_PASS)
    lastSuccess = clock()
    for (const jobId of ended) {
      announce(jobId)
      log.warn({ jobId }, 'its worker was lost; the direct job is ended')
    }
    return { more: ended.length === JOBS_PER_PASS, handled: ended.length }
  }
  return startLoop('leases', everyMs, log, pass, notes.of('leases', everyMs))
}
