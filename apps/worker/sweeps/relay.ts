// The outbox relay: the guarantee that every recorded job reaches its dispatch target. (The api's nudge right after its
// response is only faster.) Runs in every worker; rows are taken with SKIP LOCKED, so relays share the work.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import {
  markDeferred,
  markDelivered,
  markUnreachable,
  type OutboxRow,
  sweepDispatchDeadline,
  takeDue
} from '../../../db/job-steps/outbox.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import type { Delivery, Dispatcher } from '../../../services/dispatch/dispatcher.js'
import type { Pass, SweepReports } from './sweep-reports.js'
import { startLoop, type TimerLoop } from './timer-loop.js'
import type { WorkerTimes } from './times.js'

const ROWS_PER_PASS = 200
/** After the first check, a delivered row is checked each minute. */
const RECHECK_SECONDS = 60
/** A cancellation is sent again this often until the job is final. */
const CANCEL_AGAIN_SECONDS = 5

export interface RelayDeps {
  db: Db
  dispatcher: Dispatcher
  announce: AnnounceJob
  times: WorkerTimes
  /** The concurrency limit of a team. */
  teamRunningMax: number
  reports: SweepReports
  log: Logger
}

export function startRelay(deps: RelayDeps): TimerLoop {
  const { times, log, reports } = deps
  return startLoop('outbox', times.relayMs, log, () => relayPass(deps), reports.of('outbox', times.relayMs))
}

async function relayPass({ db, dispatcher, announce, times, teamRunningMax, log }: RelayDeps): Promise<Pass> {
  const { rows, full } = await takeDue(db, ROWS_PER_PASS, teamRunningMax)
  if (rows.length > 0) {
    const deliveries = await dispatcher.deliver(rows)
    const withOutcome = (outcome: Delivery, kind?: OutboxRow['kind']) =>
      rows.filter((row, at) => deliveries[at] === outcome && (!kind || row.kind === kind))
    await markDelivered(db, withOutcome('delivered', 'start'), times.redeliverSeconds)
    await markDelivered(db, withOutcome('delivered', 'cancel'), CANCEL_AGAIN_SECONDS)
    await markDeferred(db, withOutcome('duplicate'), RECHECK_SECONDS)
    const unreachable = withOutcome('unreachable')
    await markUnreachable(db, unreachable, times.unreachableRetrySeconds)
    if (unreachable.length > 0)
      log.warn({ rows: unreachable.length }, 'a dispatch target could not be reached; jobs wait')
  }
  const givenUp = await sweepDispatchDeadline(db, times.dispatchDeadlineSeconds, ROWS_PER_PASS)
  for (const jobId of givenUp) {
    announce(jobId)
    log.warn({ jobId }, 'gave up dispatching')
  }
  return { more: full, handled: rows.length + givenUp.length }
}
