// Creates, changes and deletes capsules. The caller has locked the team (`lockTeamForWrite`), and an existing capsule
// with `lockCapsule`. Each change writes its audit entry in the same transaction, last.
import { count, eq, sql } from 'drizzle-orm'
import type { AuditAction } from '../../domain/audit/audit-action.js'
import {
  backendsOf,
  type CapsuleDefinition,
  definitionText,
  readDefinition
} from '../../domain/capsules/capsule-definition.js'
import { RETENTION_YEARS_MAX } from '../../domain/capsules/capsule-fields.js'
import type { CapsuleState } from '../../domain/capsules/capsule-state.js'
import { ServiceError, validationError } from '../../domain/errors.js'
import type { MicroUsd } from '../../domain/money/money.js'
import { appendAudit } from '../audit/audit.js'
import { filesSha256 } from '../audit/audit-records.js'
import type { DbOrTx, Tx } from '../client.js'
import { newId } from '../ids.js'
import { sha256Of } from '../jobs/artifacts.js'
import { operatorLimit } from '../operator-limit.js'
import { sendContent } from '../stored-content.js'
import { capsuleFiles, capsuleRuns, capsules } from '../tables/capsules.js'
import { lookAgain } from '../teams/content-retention.js'
import { assertStorageLeft } from '../teams/team-storage.js'
import type { CapsuleRow } from './capsules.js'

/** Per team. Protects the database against abuse. */
export const CAPSULES_MAX = 10_000

export interface CapsuleFields {
  name: string
  description: string
  tags: string[]
  definition: CapsuleDefinition
  /** Defaults to the backends of the tasks. */
  backends?: string[]
  maxBudget: MicroUsd | null
  retentionYears: number | null
  regulatoryFramework: string | null
}

export interface NewCapsule extends CapsuleFields {
  teamId: string
  ownerId: string | null
  state: 'draft' | 'runnable'
  sourceJobId?: string
  clonedFrom?: string
  /** `mqc:1:<hex>` of the sealed capsule that this one continues. */
  derivedFrom?: string | null
  imported?: Record<string, unknown> | null
  /** Evidence that exists from the beginning. */
  files?: readonly EvidenceFile[]
}

export interface EvidenceFile {
  /** A path with `/`. */
  name: string
  mediaType: string
  content: Buffer
  /** Hex. */
  sha256: string
}

/** Hex SHA-256 of a definition's RFC 8785 text. */
export const definitionDigest = (text: string): string => sha256Of(Buffer.from(text, 'utf8'))

/**
 * Records a capsule and its audit entry.
 * @returns its id.
 * @throws ServiceError `conflict` when the team has too many, `storage_limit_exceeded`, `validation_error` for a retention
 * above the operator's cap.
 */
export async function createCapsule(
  tx: Tx,
  capsule: NewCapsule,
  audit: {
    actor: string
    action?: AuditAction
    metadata?: Record<string, unknown>
    /** Writes further rows of the capsule before its audit entry. */
    before?: (id: string) => Promise<unknown>
  }
): Promise<string> {
  const [held] = await tx.select({ count: count() }).from(capsules).where(eq(capsules.teamId, capsule.teamId))
  if (held!.count >= CAPSULES_MAX)
    throw new ServiceError('conflict', `This team has ${CAPSULES_MAX} capsules, which is the limit; delete some first`)
  await assertRetention(tx, capsule.retentionYears)
  const id = newId()
  const text = definitionText(capsule.definition)
  await assertStorageLeft(tx, capsule.teamId, Buffer.byteLength(text) + sizeOf(capsule.files ?? []))
  await tx.insert(capsules).values({
    id,
    teamId: capsule.teamId,
    ownerId: capsule.ownerId,
    name: capsule.name,
    description: capsule.description,
    tags: capsule.tags,
    state: capsule.state,
    definition: text,
    definitionSha256: definitionDigest(text),
    backends: capsule.backends ?? backendsOf(capsule.definition),
    maxBudget: capsule.maxBudget,
    retentionYears: capsule.retentionYears,
    regulatoryFramework: capsule.regulatoryFramework,
    sourceJobId: capsule.sourceJobId ?? null,
    clonedFrom: capsule.clonedFrom ?? null,
    derivedFrom: capsule.derivedFrom ?? null,
    imported: capsule.imported ?? null
  })
  await storeFiles(tx, id, capsule.files ?? [])
  await audit.before?.(id)
  await appendAudit(tx, {
    teamId: capsule.teamId,
    capsuleId: id,
    action: audit.action ?? 'capsule.created',
    actor: audit.actor,
    previousState: null,
    newState: capsule.state,
    metadata: {
      definition_sha256: definitionDigest(text),
      backends: capsule.backends ?? backendsOf(capsule.definition),
      parameters: Object.fromEntries(capsule.definition.tasks.map(({ name, parameters }) => [name, parameters])),
      ...(capsule.files && { evidence_sha256: filesSha256(capsule.files) }),
      ...(capsule.sourceJobId && { source_job_id: capsule.sourceJobId }),
      ...(capsule.clonedFrom && { cloned_from: capsule.clonedFrom }),
      ...audit.metadata
    }
  })
  return id
}

/** The bytes of files together. */
export const sizeOf = (files: readonly Pick<EvidenceFile, 'content'>[]): number =>
  files.reduce((sum, { content }) => sum + content.length, 0)

/** @throws ServiceError `validation_error` above the operator's cap. */
async function assertRetention(tx: Tx, years: number | null | undefined): Promise<void> {
  if (years == null) return
  const [row] = await tx.execute<{ most: string | null }>(sql`select ${operatorLimit('retentionYearsMax')} as most`)
  const most = Number(row!.most ?? RETENTION_YEARS_MAX)
  if (years > most)
    throw validationError(`retention_years: must be at most ${most}, the cap of this installation (got ${years})`)
}

/** Inserted one by one, since all files together can be too large for one statement. */
export async function storeFiles(tx: Tx, capsuleId: string, files: readonly EvidenceFile[]): Promise<void> {
  for (const { name, mediaType, content, sha256 } of files)
    await tx.insert(capsuleFiles).values({
      capsuleId,
      name,
      mediaType,
      content: await sendContent(tx, content),
      sha256,
      sizeBytes: content.length
    })
}

/** Changes a locked draft. Absent fields stay unchanged. */
export async function changeCapsule(
  tx: Tx,
  row: CapsuleRow,
  change: Partial<CapsuleFields>,
  actor: string
): Promise<CapsuleRow> {
  const { definition, ...rest } = change
  const text = definition ? definitionText(definition) : row.definition
  await assertRetention(tx, rest.retentionYears)
  const growth = Buffer.byteLength(text) - Buffer.byteLength(row.definition)
  if (growth > 0) await assertStorageLeft(tx, row.teamId, growth)
  const [changed] = await tx
    .update(capsules)
    .set({
      ...rest,
      ...(definition && { definition: text, definitionSha256: definitionDigest(text) }),
      ...(definition && !rest.backends && followsTasks(row) && { backends: backendsOf(definition) }),
      updatedAt: sql`clock_timestamp()`
    })
    .where(eq(capsules.id, row.id))
    .returning()
  await recordCapsuleChange(tx, row, 'capsule.updated', actor, row.state, {
    fields: Object.keys(change).sort(),
    definition_sha256: changed!.definitionSha256
  })
  return changed!
}

/** Backends that were not set explicitly are those of the tasks. */
const followsTasks = ({ backends, definition }: CapsuleRow): boolean =>
  JSON.stringify(backends) === JSON.stringify(backendsOf(readDefinition(definition)))

/** @throws ServiceError `conflict` while one of its runs is open. */
export async function assertNoOpenRun(db: DbOrTx, { id }: Pick<CapsuleRow, 'id'>): Promise<void> {
  const [open] = await db
    .select({ id: capsuleRuns.id })
    .from(capsuleRuns)
    .where(sql`${capsuleRuns.capsuleId} = ${id} and ${capsuleRuns.status} in ('pending', 'running', 'judging')`)
    .limit(1)
  if (open)
    throw new ServiceError(
      'conflict',
      `The run ${open.id} of this capsule has not finished; wait for it, or cancel its jobs`
    )
}

/** @throws ServiceError `conflict` while one of its runs is open. */
export async function deleteCapsule(tx: Tx, row: CapsuleRow, actor: string): Promise<void> {
  await assertNoOpenRun(tx, row)
  await tx.delete(capsules).where(eq(capsules.id, row.id))
  await lookAgain(tx, row.teamId)
  await recordCapsuleChange(tx, row, 'capsule.deleted', actor, null, {
    name: row.name,
    definition_sha256: row.definitionSha256
  })
}

/** Writes the audit entry for a change of a capsule. Must come last in its transaction. */
export async function recordCapsuleChange(
  tx: Tx,
  before: Pick<CapsuleRow, 'id' | 'teamId' | 'state'>,
  action: AuditAction,
  actor: string,
  newState: CapsuleState | null,
  metadata: Record<string, unknown>
): Promise<void> {
  await appendAudit(tx, {
    teamId: before.teamId,
    capsuleId: before.id,
    action,
    actor,
    previousState: before.state,
    newState,
    metadata
  })
}
