// The files of a job besides its result: canonical circuit, compiled program, state vector. They are stored with the
// attempt that produced them (db/jobs/attempts.ts), and shown once the job has its result.
import { createHash } from 'node:crypto'
import { and, asc, desc, eq, ne, type SQL, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import type { GivenAll } from '../statement.js'
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

/** What a run leaves: its result (JSON text, kept byte for byte) and its files. */
export interface RunOutcome {
  result: string
  files?: readonly Artifact[]
}

/** The result as a file, and then the other files, each with its digest. */
export function storedFiles({ result, files = [] }: RunOutcome) {
  const resultFile = { name: RESULT_ARTIFACT, mediaType: 'application/json', content: Buffer.from(result, 'utf8') }
  return [resultFile, ...files].map((file) => ({
    ...file,
    sha256: sha256Of(file.content),
    sizeBytes: file.content.length
  }))
}

/** What is stored of a file besides its content. */
export type GivenFile = GivenAll<ArtifactInfo>

/** A part of a statement: stores files of the job that is in `closed`. @param bytes the content of each (db/stored-content.ts). */
export function storing(files: readonly GivenFile[], bytes: readonly SQL[]): SQL {
  const rows = files.map(
    ({ name, mediaType, sizeBytes, sha256 }, index) =>
      sql`(${name}::text, ${sha256}::text, ${sizeBytes}::int, ${mediaType}::text, ${bytes[index]})`
  )
  return sql`insert into ${artifacts} (job_id, name, sha256, size_bytes, media_type, content)
    select closed.job_id, file.* from closed
      cross join (values ${sql.join(rows, sql`, `)}) as file (name, sha256, size_bytes, media_type, content)
    on conflict do nothing`
}

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
