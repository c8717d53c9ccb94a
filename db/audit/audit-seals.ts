// What the audit trail records of a seal: digests of everything that a sealed capsule consists of, computed from its
// rows.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { digestIn, isKept } from '../content-store.js'
import { auditEntries } from '../tables/audit.js'
import { capsuleFiles, capsuleSeals, capsules } from '../tables/capsules.js'

/** Part of the metadata of a `capsule.sealed` entry. */
export interface SealRecord {
  capsule_digest: string
  root_digest: string
  key_id: string
  /** Hex SHA-256 over the columns of the capsule and of its seal that never change. */
  record_sha256: string
}

/** `null` for a capsule without a seal. */
export async function sealRecord(db: DbOrTx, capsuleId: string): Promise<SealRecord | null> {
  const [row] = await db
    .select({ capsule: capsules, seal: capsuleSeals })
    .from(capsuleSeals)
    .innerJoin(capsules, eq(capsules.id, capsuleSeals.capsuleId))
    .where(eq(capsuleSeals.capsuleId, capsuleId))
  return row ? recordOf(row.capsule, row.seal) : null
}

/**
 * Columns are listed explicitly, so that columns of later versions do not change existing digests. The seal's checksums
 * cover the files. State, owner and publication can still change and are left out.
 */
function recordOf(capsule: typeof capsules.$inferSelect, seal: typeof capsuleSeals.$inferSelect): SealRecord {
  const record = {
    capsule_id: capsule.id,
    team_id: capsule.teamId,
    name: capsule.name,
    description: capsule.description,
    tags: capsule.tags,
    definition: capsule.definition,
    definition_sha256: capsule.definitionSha256,
    backends: capsule.backends,
    max_budget_micro: capsule.maxBudget?.toString() ?? null,
    retention_years: capsule.retentionYears,
    regulatory_framework: capsule.regulatoryFramework,
    source_job_id: capsule.sourceJobId,
    derived_from: capsule.derivedFrom,
    imported: capsule.imported,
    created_at: capsule.createdAt.toISOString(),
    manifest: seal.manifest,
    checksums: seal.checksums,
    root_digest: seal.rootDigest,
    capsule_digest: seal.capsuleDigest,
    exit_code: seal.exitCode,
    exit_message: seal.exitMessage,
    margin: seal.margin,
    sealed_by: seal.sealedBy,
    sealed_at: seal.sealedAt.toISOString(),
    key_id: seal.keyId,
    envelope: seal.envelope
  }
  return {
    capsule_digest: seal.capsuleDigest,
    root_digest: seal.rootDigest,
    key_id: seal.keyId,
    record_sha256: createHash('sha256').update(canonicalize(record)!).digest('hex')
  }
}

export interface SealedContent {
  record: SealRecord
  seal: typeof capsuleSeals.$inferSelect
  /** JSON text. */
  definition: string
  /** The recorded and the actual digest and size of each file. */
  files: SealedFile[]
}

interface SealedFile {
  name: string
  sha256: string
  sizeBytes: number
  /** `null` of a file that the content store has lost or changed. */
  actualSha256: string | null
  actualBytes: number | null
}

/**
 * Everything that is sealed of a capsule, with its files by their digests; `null` when the capsule or its seal was
 * deleted.
 */
export async function sealedContent(db: DbOrTx, capsuleId: string): Promise<SealedContent | null> {
  const [row] = await db
    .select({ capsule: capsules, seal: capsuleSeals })
    .from(capsuleSeals)
    .innerJoin(capsules, eq(capsules.id, capsuleSeals.capsuleId))
    .where(eq(capsuleSeals.capsuleId, capsuleId))
  if (!row) return null
  const files = await db
    .select({
      name: capsuleFiles.name,
      sha256: capsuleFiles.sha256,
      sizeBytes: capsuleFiles.sizeBytes,
      // Hashed in the database, since a capsule can have 60 MiB of files.
      actualSha256: sql<string | null>`encode(sha256(${capsuleFiles.content}), 'hex')`,
      actualBytes: sql<number | null>`length(${capsuleFiles.content})`,
      objectKey: capsuleFiles.objectKey
    })
    .from(capsuleFiles)
    .where(eq(capsuleFiles.capsuleId, capsuleId))
    .orderBy(asc(capsuleFiles.name))
  const found: SealedFile[] = []
  for (const { objectKey, ...file } of files)
    found.push(file.actualSha256 === null ? { ...file, ...(await actualOf(db, file.sizeBytes, objectKey!)) } : file)
  return {
    record: recordOf(row.capsule, row.seal),
    seal: row.seal,
    definition: row.capsule.definition,
    files: found
  }
}

const actualOf = async (db: DbOrTx, sizeBytes: number, objectKey: string) =>
  (await isKept(db, objectKey, sizeBytes))
    ? { actualSha256: digestIn(objectKey), actualBytes: sizeBytes }
    : { actualSha256: null, actualBytes: null }

/** Whether a later entry records the deletion of the capsule. */
export async function deletionIsRecorded(
  db: DbOrTx,
  { teamId, capsuleId, seq }: { teamId: string; capsuleId: string; seq: number }
): Promise<boolean> {
  const [row] = await db
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.capsuleId, capsuleId),
        eq(auditEntries.teamId, teamId),
        gt(auditEntries.seq, seq),
        eq(auditEntries.action, 'capsule.deleted')
      )
    )
    .limit(1)
  return row !== undefined
}
