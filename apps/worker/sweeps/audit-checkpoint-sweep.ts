// Signs where the audit trails of teams end, and appends each signed point to a file outside the database.
import type { Logger } from 'pino'
import { type Checkpointing, signGrownTrails, writeCheckpoints } from '../../../services/audit/audit-checkpointing.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

/** A trail that grows gets a checkpoint this often, and one with each seal: so much can be rewritten unseen. */
const CHECKPOINT_SECONDS = 3_600
const SIGN_EVERY_MS = 60_000
/** Points of seals lie outside the database after this long. */
const WRITE_EVERY_MS = 5_000

export interface AuditCheckpointSweepDeps extends Checkpointing {
  /** `null`: nothing is written outside the database. */
  file: string | null
  notes: SweepNotes
  log: Logger
}

export function startAuditCheckpointSweep({ file, notes, log, ...means }: AuditCheckpointSweepDeps): TimerLoop[] {
  let told = ''
  async function sign() {
    const { signed, findings } = await signGrownTrails(means, CHECKPOINT_SECONDS)
    const found = JSON.stringify(findings)
    if (findings.length > 0 && found !== told)
      log.error({ findings }, 'an audit trail was changed in the database and gets no checkpoint: qjob audit verify')
    told = found
    return { handled: signed, findings }
  }
  const signing = startLoop('audit checkpoints', SIGN_EVERY_MS, log, sign, notes.of('audit', SIGN_EVERY_MS))
  if (file === null) return [signing]
  async function write() {
    const written = await writeCheckpoints(means.db, file!)
    return written === null ? null : { handled: written }
  }
  const note = notes.of('audit_file', WRITE_EVERY_MS)
  return [signing, startLoop('audit checkpoint file', WRITE_EVERY_MS, log, write, note)]
}
