// The file for a stack's signed audit checkpoints, which is outside the database whose trails they prove.
import { join } from 'node:path'

export const checkpointsFile = (dataDir: string): string => join(dataDir, 'audit-checkpoints.jsonl')
