// Where checkpoints of audit trails are outside the database, by AUDIT_CHECKPOINTS_FILE: a file, or the content store.
import type { DbOrTx } from '../../db/client.js'
import { storeOf } from '../../db/content-store.js'
import type { Checkpoint, KeptCheckpoints } from '../../domain/audit/audit-checkpoint.js'
import { appendCheckpoints, readCheckpoints } from './audit-checkpoint-file.js'
import { storeCheckpoints, storedCheckpoints } from './audit-checkpoint-store.js'

/** The value of AUDIT_CHECKPOINTS_FILE for the content store. */
export const CONTENT_STORE_PLACE = 'content-store'

export interface CheckpointPlace {
  /** Resolves when they are kept there. One can be appended twice. @throws ServiceError `content_store_unavailable` */
  append(points: readonly Checkpoint[]): Promise<void>
  /**
   * @param teamId only what names this team.
   * @returns `null` when nothing was written there.
   * @throws the error of the system when a file cannot be read; ServiceError `content_store_unavailable`
   */
  read(teamId?: string): Promise<KeptCheckpoints | null>
}

/** @param setting the value of AUDIT_CHECKPOINTS_FILE. @param db its connection has the content store. */
export function checkpointPlace(setting: string, db: DbOrTx): CheckpointPlace {
  if (setting === CONTENT_STORE_PLACE)
    return {
      append: async (points) => storeCheckpoints(storeOf(db), points),
      read: async (teamId) => storedCheckpoints(storeOf(db), teamId)
    }
  return {
    append: (points) => appendCheckpoints(setting, points),
    read: (teamId) =>
      readCheckpoints(setting, teamId).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null
        throw error
      })
  }
}

/** @throws Error where the place is the content store, and there is none. */
export function readCheckpointSetting(
  { AUDIT_CHECKPOINTS_FILE: text }: Readonly<Record<string, string | undefined>>,
  hasContentStore: boolean
): string | null {
  const setting = text?.trim() || null
  if (setting === CONTENT_STORE_PLACE && !hasContentStore)
    throw new Error(`AUDIT_CHECKPOINTS_FILE is ${CONTENT_STORE_PLACE}, and CONTENT_STORE is not set`)
  return setting
}
