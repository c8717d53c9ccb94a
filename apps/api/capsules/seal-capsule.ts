// Sealing: evidence, digests and signature are prepared first, without a lock and off the event loop; then one transaction
// checks that the capsule is still as it was read, and records files, seal, state, audit entry and checkpoint together.
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { dsseEnvelope, statement } from '../../../capsule-format/attestation.js'
import type { SealContent, SealRequest } from '../../../capsule-format/seal-content.js'
import { actorText } from '../../../db/audit/audit.js'
import { checkpoint } from '../../../db/audit/audit-checkpoints.js'
import { definitionDigest, type EvidenceFile, recordCapsuleChange } from '../../../db/capsules/capsule-changes.js'
import { collectEvidence, evidenceJobs, loadFiles } from '../../../db/capsules/capsule-evidence.js'
import { recordSeal } from '../../../db/capsules/capsule-seals.js'
import { type CapsuleRow, hasCompletedRun } from '../../../db/capsules/capsules.js'
import type { DbOrTx, Tx } from '../../../db/client.js'
import type { Caller } from '../../../db/teams/memberships.js'
import { MAIN_TASK } from '../../../domain/capsules/capsule-definition.js'
import { assertEvidenceFits } from '../../../domain/capsules/capsule-size.js'
import { codeOf, type ErrorCode, ServiceError, validationError } from '../../../domain/errors.js'
import type { Signer } from '../../../services/keys/signer.js'
import { packagedCapsule } from './transfer/capsule-in-package.js'

/** The refusals of a seal that follow neither from its request nor from the capsule's state. */
export const sealErrors = [
  'conflict',
  'rate_limited',
  'service_busy',
  'content_store_unavailable',
  'storage_limit_exceeded',
  'worker_not_configured'
] as const satisfies ErrorCode[]

export const SealBody = Type.Object(
  {
    exit_code: Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
    exit_message: Type.Optional(Type.String({ maxLength: 1_000 })),
    margin: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description:
          'The total variation distance that a verification tolerates. Left out: the larger of 0.05 (hardware 0.10) and the ' +
          'smallest that the sealed shots can resolve.'
      })
    )
  },
  { additionalProperties: false }
)
export type SealBody = Static<typeof SealBody>

export interface Sealer {
  caller: Caller
  signer: Signer
  at: Date
  /** Makes the content of a seal: in a thread (services/threads/seal-pool.ts). */
  seal(request: SealRequest): Promise<SealContent>
}

interface Prepared {
  content: SealContent
  /** The files that are not stored yet. */
  files: readonly EvidenceFile[]
  envelope: string
}

/**
 * Seals a capsule for a caller who is allowed to.
 * @param capsule as it was read; the seal covers this version.
 * @param lock returns the locked row, and refuses a caller who is no longer allowed to seal it.
 * @throws ServiceError `validation_error` naming what is missing or prevents the seal, `conflict` when it was changed in the
 * meantime.
 */
export async function sealCapsule(
  tx: Tx,
  by: Sealer,
  capsule: CapsuleRow,
  body: SealBody,
  lock: () => Promise<CapsuleRow>
): Promise<CapsuleRow> {
  const { content, files, envelope } = await prepare(tx, by, capsule, body).catch(async (problem) => {
    // Files that are missing were deleted with their capsule: the lock then shows it.
    if (codeOf(problem)) await lock()
    throw problem
  })
  const locked = await lock()
  if (!isDeepStrictEqual(locked, capsule))
    throw new ServiceError('conflict', 'This capsule was changed while it was being sealed; check it and seal it again')
  const sealed = await recordSeal(tx, capsule, {
    files,
    ...content,
    margin: String(content.margin),
    exitCode: body.exit_code,
    exitMessage: body.exit_message ?? null,
    sealedBy: by.caller.userId,
    sealedAt: by.at,
    keyId: by.signer.keyId,
    envelope
  })
  await recordCapsuleChange(tx, capsule, 'capsule.sealed', actorText(by.caller), 'sealed', {
    exit_code: body.exit_code,
    margin: content.margin
  })
  await checkpoint(tx, capsule.teamId, by.signer)
  return sealed
}

async function prepare(
  db: DbOrTx,
  { caller, signer, at, seal }: Sealer,
  capsule: CapsuleRow,
  body: SealBody
): Promise<Prepared> {
  if (definitionDigest(capsule.definition) !== capsule.definitionSha256)
    throw new ServiceError('conflict', 'The definition of this capsule is not the one whose SHA-256 is recorded')
  const kept = await loadFiles(db, capsule.id)
  const jobs = await evidenceJobs(db, capsule, MAIN_TASK)
  await assertHasEvidence(db, capsule, jobs)
  const files = kept.length === 0 ? await evidenceOf(db, jobs) : []
  const sealedBy = `user:${caller.userId}`
  const facts = { name: capsule.name, sealedAt: at, sealedBy, exitCode: body.exit_code }
  const content = await seal({
    ...packagedCapsule(capsule),
    ...facts,
    exitMessage: body.exit_message ?? null,
    margin: body.margin ?? null,
    provenance: {
      capsule_id: capsule.id,
      ...(capsule.sourceJobId && { source_job_id: capsule.sourceJobId }),
      ...(capsule.clonedFrom && { cloned_from: capsule.clonedFrom }),
      ...(capsule.imported && { imported: capsule.imported })
    },
    taskNames: jobs.map(({ task }) => task),
    files: kept.length > 0 ? kept : files
  })
  return { content, files, envelope: dsseEnvelope(statement({ ...content, ...facts }), signer) }
}

/**
 * Loads the evidence of all jobs of a run. The size is checked job by job, since each job can have as much as a capsule can
 * hold.
 */
async function evidenceOf(db: DbOrTx, jobs: readonly { task: string; jobId: string }[]): Promise<EvidenceFile[]> {
  const files: EvidenceFile[] = []
  for (const { jobId, task } of jobs) {
    files.push(...(await collectEvidence(db, jobId, task)))
    assertEvidenceFits(files.map(({ name, content }) => ({ name, size: content.length })))
  }
  return files
}

/** @param jobs those of the evidence. @throws ServiceError `validation_error` when there are none. */
export async function assertHasEvidence(
  db: DbOrTx,
  capsule: Pick<CapsuleRow, 'id'>,
  jobs: readonly unknown[]
): Promise<void> {
  if (jobs.length > 0) return
  throw validationError(
    (await hasCompletedRun(db, capsule.id))
      ? 'evidence is of an earlier definition; run again (mode template, without changes), then seal'
      : 'evidence is missing: no task execution and no result; run the capsule first (mode template)'
  )
}
