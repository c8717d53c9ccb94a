// Where a stack keeps the signed points of its audit trails, outside the database that they prove.
import { join } from 'node:path'

export const checkpointsFile = (dataDir: string): string => join(dataDir, 'audit-checkpoints.jsonl')
