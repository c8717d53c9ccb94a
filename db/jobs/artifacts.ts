// The files of a job besides its result: canonical circuit, compiled program, state vector. They are stored with the
// attempt that produced them (db/jobs/attempts.ts), and shown once the job has its result.
import { createHash } from 'node:crypto'
import { and, asc, desc, eq, ne } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import type { StoredContent } from '../stored-content.js'
import { artifacts } from '../tables/jobs.js'

/** The name under which a result is stored. It is part of the record and not listed as a file. */
export const RESULT_ARTIFACT = 'result.json'

/** A file of a run. `name` consists of letters, digits, `.`, `_` and `-`. */
export interface Artifact {
  name: string
  mediaType: string
  content: Buffer
}

/** Returns hex. */
export const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

export interface ArtifactInfo {
  name: string
  /** Hex, of the content. */
  sha256: string
  sizeBytes: number
  mediaType: string
}

const info = {
  name: artifacts.name,
  sha256: artifacts.sha256,
  sizeBytes: artifacts.sizeBytes,
  mediaType: artifacts.mediaType
}

/** Sorted by name. When names repeat, only the newest file counts. */
export async function listArtifacts(db: DbOrTx, jobId: string): Promise<ArtifactInfo[]> {
  return db
    .selectDistinctOn([artifacts.name], info)
    .from(artifacts)
    .where(and(eq(artifacts.jobId, jobId), ne(artifacts.name, RESULT_ARTIFACT)))
    .orderBy(asc(artifacts.name), desc(artifacts.createdAt))
}

export async function findArtifact(
  db: DbOrTx,
  jobId: string,
  name: string
): Promise<(ArtifactInfo & { stored: StoredContent }) | null> {
  if (name === RESULT_ARTIFACT) return null
  const [row] = await db
    .select(info)
    .from(artifacts)
    .where(and(eq(artifacts.jobId, jobId), eq(artifacts.name, name)))
    .orderBy(desc(artifacts.createdAt))
    .limit(1)
  if (!row) return null
  const where = and(eq(artifacts.jobId, jobId), eq(artifacts.name, name), eq(artifacts.sha256, row.sha256))!
  return { ...row, stored: { table: 'artifacts', where, sizeBytes: row.sizeBytes } }
}
