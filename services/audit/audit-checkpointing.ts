// Signs the ends of audit trails that have grown. The entries since the last checkpoint are verified first: a trail that was
// rewritten in the database gets no signature, and is reported until an operator repairs it.
import { checkpoint, exportCheckpoints, teamsToCheckpoint } from '../../db/audit/audit-checkpoints.js'
import type { Db } from '../../db/client.js'
import { verifySinceCheckpoint } from '../../db/proofs/audit-verify.js'
import type { KeyRing } from '../keys/key-ring.js'
import type { InstallationSigner } from '../keys/signer.js'
import { provenKeys } from './audit-proof.js'
import { checkpointPlace } from './checkpoint-place.js'

const TEAMS_MAX = 200
const EXPORTED_MAX = 500

export interface Checkpointing {
  db: Db
  keyRing: KeyRing
  signer: InstallationSigner
}

/**
 * Signs the trails of teams whose last checkpoint is older than `seconds`.
 * @param onFailure called for a trail that could not be read or signed; the others are signed all the same.
 * @returns how many were signed, and what is wrong with the others.
 */
export async function signGrownTrails(
  { db, keyRing, signer }: Checkpointing,
  seconds: number,
  onFailure: (teamId: string, error: unknown) => void
): Promise<{ signed: number; findings: string[] }> {
  const due = await teamsToCheckpoint(db, seconds, TEAMS_MAX)
  if (due.length === 0) return { signed: 0, findings: [] }
  const current = await signer()
  const keys = await provenKeys(db, keyRing)
  const findings: string[] = []
  let signed = 0
  for (const teamId of due)
    try {
      const fault = await db.transaction(
        async (tx) => {
          const found = await verifySinceCheckpoint(tx, teamId, keys)
          if (!found) await checkpoint(tx, teamId, current)
          return found
        },
        { isolationLevel: 'repeatable read' }
      )
      if (fault) findings.push(`audit trail of team ${teamId}, entry ${fault.seq}: ${fault.reason}`)
      else signed++
    } catch (error) {
      onFailure(teamId, error)
    }
  return { signed, findings }
}

/**
 * Appends the checkpoints that are in the database alone.
 * @param setting the value of AUDIT_CHECKPOINTS_FILE.
 * @returns how many; `null` while another process does so.
 */
export async function writeCheckpoints(db: Db, setting: string): Promise<number | null> {
  const place = checkpointPlace(setting, db)
  let written = 0
  for (;;) {
    const some = await exportCheckpoints(db, EXPORTED_MAX, place.append)
    if (some === null) return null
    written += some
    if (some < EXPORTED_MAX) return written
  }
}
