// The file for a stack's signed audit checkpoints, which is outside the database whose trails they prove.
import { join } from 'node:path'
import { CONTENT_STORE_PLACE } from '../../../services/audit/checkpoint-place.js'

export const checkpointsFile = (dataDir: string): string => join(dataDir, 'audit-checkpoints.jsonl')

/** The file that the environment names, or else that of a stack in this folder. */
export const namedCheckpointsFile = (dataDir: string): string =>
  (!areInContentStore() && process.env.AUDIT_CHECKPOINTS_FILE?.trim()) || checkpointsFile(dataDir)

export const areInContentStore = (): boolean => process.env.AUDIT_CHECKPOINTS_FILE?.trim() === CONTENT_STORE_PLACE
