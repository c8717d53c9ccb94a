// The checkpoints of a team in the file outside the database, if this api can read it.

import { isAnyExported } from '../../../db/audit/audit-checkpoints.js'
import type { Db } from '../../../db/client.js'
import type { Checkpoint } from '../../../domain/audit/audit-checkpoint.js'
import { readCheckpoints } from '../../../services/audit/audit-checkpoint-file.js'

export interface OutsideCheckpoints {
  points: readonly Checkpoint[]
  /** Lines that name the team and hold no checkpoint, such as one that a crash truncated. */
  unreadableLines: number
  /** Why the trail is not compared with the file; `null` when it is. */
  reason: string | null
  /** The trail should be compared with the file and cannot be, so nothing is proved. */
  fails: boolean
}

const none = (reason: string, fails: boolean): OutsideCheckpoints => ({
  points: [],
  unreadableLines: 0,
  reason,
  fails
})

/**
 * Call it before the trail is read, so that the database holds everything that the file holds.
 * @param path `null` where none is configured for this api.
 */
export async function outsideCheckpoints(db: Db, path: string | null, teamId: string): Promise<OutsideCheckpoints> {
  if (path === null) return none('AUDIT_CHECKPOINTS_FILE is not set for the api', false)
  // Checked first, so that a file written between the two checks is not reported as missing.
  const wasWritten = await isAnyExported(db)
  try {
    const { byTeam, unreadable } = await readCheckpoints(path, teamId)
    return {
      points: byTeam.get(teamId) ?? [],
      unreadableLines: unreadable.length,
      reason: null,
      fails: false
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    if (code !== 'ENOENT') return none(`AUDIT_CHECKPOINTS_FILE cannot be read (${code})`, true)
    return wasWritten
      ? none('AUDIT_CHECKPOINTS_FILE is missing, although checkpoints were written to it', true)
      : none('no checkpoint was written to AUDIT_CHECKPOINTS_FILE yet', false)
  }
}
