// Signs the ends of the teams' audit trails, and appends each checkpoint to a place outside the database.
import type { Logger } from 'pino'
import { type Checkpointing, signGrownTrails, writeCheckpoints } from '../../../services/audit/audit-checkpointing.js'
import { createFailedRows } from './failed-rows.js'
import type { SweepReports } from './sweep-reports.js'
import { startLoop, startSharedLoop, type TimerLoop } from './timer-loop.js'

/** A growing trail gets a checkpoint this often, and one with each seal. Changes to later entries go undetected. */
const CHECKPOINT_SECONDS = 3_600
const SIGN_EVERY_MS = 60_000
/** The checkpoint of a seal is outside the database after this time. */
const WRITE_EVERY_MS = 5_000

export interface AuditCheckpointSweepDeps extends Checkpointing {
  /** The value of AUDIT_CHECKPOINTS_FILE. `null`: checkpoints stay in the database. */
  place: string | null
  reports: SweepReports
  log: Logger
}

export function startAuditCheckpointSweep({ place, reports, log, ...means }: AuditCheckpointSweepDeps): TimerLoop[] {
  let logged = ''
  const failures = createFailedRows(log, 'audit')
  async function sign() {
    const { signed, findings } = await signGrownTrails(means, CHECKPOINT_SECONDS, failures.failedAlone)
    const found = JSON.stringify(findings)
    if (findings.length > 0 && found !== logged)
      log.error(
        { findings },
        'an audit trail was changed in the database and gets no checkpoint; run qjob audit verify'
      )
    logged = found
    return { handled: signed, ...failures.take(), findings }
  }
  const signing = startSharedLoop({ db: means.db, reports, log }, 'audit', SIGN_EVERY_MS, sign)
  if (place === null) return [signing]
  async function write() {
    const written = await writeCheckpoints(means.db, place!)
    return written === null ? null : { handled: written }
  }
  const report = reports.of('audit_file', WRITE_EVERY_MS)
  return [signing, startLoop('audit checkpoint file', WRITE_EVERY_MS, log, write, report)]
}
