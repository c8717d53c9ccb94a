// The outbox relay: the guarantee that every recorded job reaches its dispatch target. (The api's nudge right after its
// response is only faster.) Runs in every worker; rows are taken with SKIP LOCKED, so relays share the work.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  markDeferred,
  markDelivered,
  markRefused,
  markUnreachable,
  type OutboxRow,
  sweepDispatchDeadline,
  takeDue
} from '../../../db/job-steps/outbox.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import { type ExecutionMode, executionModes } from '../../../domain/jobs/job-status.js'
import type { Delivery, Dispatcher } from '../../../services/dispatch/dispatcher.js'
import type { WorkerTimes } from '../times.js'
import { createFailedRows } from './failed-rows.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type WakeableLoop } from './timer-loop.js'

const ROWS_PER_PASS = 200
/** After the first check, a delivered row is checked each minute. */
const RECHECK_SECONDS = 60
/** A cancellation is sent again this often until the job is final. */
const CANCEL_AGAIN_SECONDS = 5
/** A target that requests fewer calls. */
const BUSY_RETRY_SECONDS = 5
/** A target that refuses a delivery accepts it once an operator has changed something. */
const REFUSED_RETRY_SECONDS = 15
/** A relay without a pass for this long was itself away: it has just started, or the database was down. */
const RELAY_AWAY_MS = 10_000
/** A relay that was away fails no job for this long. */
const RELAY_GRACE_MS = 30_000

export interface RelayDeps {
  db: Db
  dispatcher: Dispatcher
  announce: AnnounceJob
  times: WorkerTimes
  /** The concurrency limit of a team. */
  teamRunningMax: number
  /** What is wrong with a dispatch target apart from refused deliveries, in words for an operator. */
  findings(): string[]
  reports: SweepReports
  log: Logger
  /** Milliseconds on a monotonic clock. */
  clock(): number
}

/**
 * One loop for each mode: while one dispatch target hangs, jobs of the other are delivered. They are woken when the end of a
 * job releases another, which would wait for their timer otherwise.
 */
export function startRelay(deps: RelayDeps): WakeableLoop[] {
  const { times, log, reports } = deps
  return executionModes.map((mode) => {
    const pass = createRelayPass(deps, mode)
    return startLoop(`outbox ${mode}`, times.relayMs, log, pass, reports.of('outbox', times.relayMs))
  })
}

export function createRelayPass(deps: RelayDeps, mode: ExecutionMode): () => Promise<Pass> {
  const { db, dispatcher, announce, times, teamRunningMax, findings, log, clock } = deps
  const failures = createFailedRows(log, 'outbox', { clock })
  let lastPass = Number.NEGATIVE_INFINITY
  let graceUntil = 0

  /** Fails jobs that have waited too long. @param unreachable the rows whose target was just found unreachable. */
  async function giveUp(unreachable: OutboxRow[]): Promise<string[]> {
    // The outage may have ended and started again while no relay checked.
    if (clock() < graceUntil) return []
    const givenUp = await sweepDispatchDeadline(db, times.dispatchDeadlineSeconds, unreachable, failures)
    for (const jobId of givenUp) {
      announce(jobId)
      log.warn({ jobId }, 'gave up dispatching')
    }
    return givenUp
  }

  return async () => {
    const graceMs = Math.min(RELAY_GRACE_MS, times.dispatchDeadlineSeconds * 1_000)
    if (clock() - lastPass > RELAY_AWAY_MS) graceUntil = clock() + graceMs
    const { rows, full } = await takeDue(db, mode, ROWS_PER_PASS, teamRunningMax)
    let givenUp: string[] = []
    if (rows.length > 0) {
      const deliveries = await dispatcher.deliver(rows)
      const withOutcome = (outcome: Delivery, kind?: OutboxRow['kind']) =>
        rows.filter((row, at) => deliveries[at] === outcome && (!kind || row.kind === kind))
      await markDelivered(db, withOutcome('delivered', 'start'), times.redeliverSeconds)
      await markDelivered(db, withOutcome('delivered', 'cancel'), CANCEL_AGAIN_SECONDS)
      await markDeferred(db, withOutcome('duplicate'), RECHECK_SECONDS)
      await markRefused(db, withOutcome('busy'), BUSY_RETRY_SECONDS)
      await markRefused(db, withOutcome('refused'), REFUSED_RETRY_SECONDS)
      const unreachable = withOutcome('unreachable')
      await markUnreachable(db, unreachable, times.unreachableRetry)
      givenUp = await giveUp(unreachable)
    }
    lastPass = clock()
    return {
      more: full,
      handled: rows.length + givenUp.length,
      ...failures.take(),
      // Those of both targets: the loops share a report.
      findings: [...dispatcher.refusals('Temporal'), ...dispatcher.refusals('Redis'), ...findings()]
    }
  }
}
