// The checkpoints of a team in their place outside the database, if this api can read it.

import { isAnyExported } from '../../../../db/audit/audit-checkpoints.js'
import type { Db } from '../../../../db/client.js'
import type { Checkpoint } from '../../../../domain/audit/audit-checkpoint.js'
import { ServiceError } from '../../../../domain/errors.js'
import { CONTENT_STORE_PLACE, checkpointPlace } from '../../../../services/audit/checkpoint-place.js'

export interface OutsideCheckpoints {
  points: readonly Checkpoint[]
  /** Lines or objects that name the team and hold no checkpoint, such as a line that a crash truncated. */
  unreadableLines: number
  /** Why the trail is not compared with them; `null` when it is. */
  reason: string | null
  /** The trail should be compared with them and cannot be, so nothing is proved. */
  fails: boolean
}

const none = (reason: string, fails: boolean): OutsideCheckpoints => ({
  points: [],
  unreadableLines: 0,
  reason,
  fails
})

/**
 * Call it before the trail is read, so that the database holds everything that the other place holds.
 * @param setting the value of AUDIT_CHECKPOINTS_FILE; `null` where none is configured for this api.
 * @throws ServiceError `content_store_unavailable`
 */
export async function outsideCheckpoints(db: Db, setting: string | null, teamId: string): Promise<OutsideCheckpoints> {
  if (setting === null) return none('AUDIT_CHECKPOINTS_FILE is not set for the api', false)
  const place = setting === CONTENT_STORE_PLACE ? 'the content store' : 'AUDIT_CHECKPOINTS_FILE'
  // Checked first, so that a checkpoint written between the two checks is not reported as missing.
  const wasWritten = await isAnyExported(db)
  try {
    const kept = await checkpointPlace(setting, db).read(teamId)
    if (!kept)
      return wasWritten
        ? none(`${place} has no checkpoint, although some were written to it`, true)
        : none(`no checkpoint was written to ${place} yet`, false)
    return {
      points: kept.byTeam.get(teamId) ?? [],
      unreadableLines: kept.unreadable.length,
      reason: null,
      fails: false
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || error instanceof ServiceError) throw error
    return none(`${place} cannot be read (${code})`, true)
  }
}
