// Sealing: evidence, digests and signature are prepared first, without a lock; then one transaction finds the capsule as it
// was read, and records files, seal, state, audit entry and checkpoint together.
import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { dsseEnvelope, statement } from '../../activities/capsule-format/attestation.js'
import { type SealedPackage, sealPackage } from '../../activities/capsule-format/package.js'
import type { Signer } from '../../activities/signer.js'
import { actorText } from '../../db/audit.js'
import { checkpoint } from '../../db/audit-checkpoints.js'
import { type EvidenceFile, tellChange } from '../../db/capsule-changes.js'
import {
  assertFits,
  collectEvidence,
  evidenceJobs,
  loadFiles,
  type TaskFacts,
  taskFacts
} from '../../db/capsule-evidence.js'
import { recordSeal } from '../../db/capsule-seals.js'
import { type CapsuleRow, hasCompletedRun } from '../../db/capsules.js'
import type { DbOrTx, Tx } from '../../db/client.js'
import type { Caller } from '../../db/teams.js'
import { MAIN_TASK } from '../../domain/capsule-definition.js'
import { ServiceError } from '../../domain/errors.js'
import { defaultMargin } from '../../domain/verification-margin.js'
import { packagedCapsule } from './packaged-capsule.js'

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

interface Prepared {
  package: SealedPackage
  /** What is not kept yet. */
  files: readonly EvidenceFile[]
  margin: number
  sealedAt: Date
  envelope: string
}

/**
 * Seals a capsule for somebody who may.
 * @param capsule as it was read; the seal is of this.
 * @param lock gives the row once it is locked, and refuses whoever may not seal it any more.
 * @throws ServiceError `validation_error` naming what is missing or in the way, `conflict` when it was changed meanwhile.
 */
export async function sealCapsule(
  tx: Tx,
  by: { caller: Caller; signer: Signer; at: Date },
  capsule: CapsuleRow,
  body: SealBody,
  lock: () => Promise<CapsuleRow>
): Promise<CapsuleRow> {
  const prepared = await prepare(tx, by, capsule, body)
  const locked = await lock()
  if (!isDeepStrictEqual(locked, capsule))
    throw new ServiceError(
      'conflict',
      'This capsule was changed while it was being sealed; look at it and seal it again'
    )
  const sealed = await recordSeal(tx, capsule.id, {
    files: prepared.files,
    manifest: prepared.package.manifest,
    checksums: prepared.package.checksums,
    rootDigest: prepared.package.rootDigest,
    capsuleDigest: prepared.package.capsuleDigest,
    exitCode: body.exit_code,
    exitMessage: body.exit_message ?? null,
    margin: String(prepared.margin),
    sealedBy: by.caller.userId,
    sealedAt: prepared.sealedAt,
    keyId: by.signer.keyId,
    envelope: prepared.envelope
  })
  await tellChange(tx, capsule, 'capsule.sealed', actorText(by.caller), 'sealed', {
    exit_code: body.exit_code,
    margin: prepared.margin
  })
  await checkpoint(tx, capsule.teamId, by.signer)
  return sealed
}

async function prepare(
  db: DbOrTx,
  { caller, signer, at }: { caller: Caller; signer: Signer; at: Date },
  capsule: CapsuleRow,
  body: SealBody
): Promise<Prepared> {
  const jobs = await evidenceJobs(db, capsule, MAIN_TASK)
  if (jobs.length === 0) throw await noEvidence(db, capsule)
  const tasks: TaskFacts[] = []
  for (const { jobId, task } of jobs) tasks.push(await taskFacts(db, jobId, task))
  const kept = await loadFiles(db, capsule.id)
  const files: EvidenceFile[] = []
  if (kept.length === 0) for (const { jobId, task } of jobs) files.push(...(await collectEvidence(db, jobId, task)))
  const evidence = kept.length > 0 ? kept : files
  assertFits(evidence.map(({ name, content }) => ({ name, size: content.length })))
  const margin = body.margin ?? defaultMargin(resultsOf(evidence, tasks))
  const sealedBy = `user:${caller.userId}`
  const sealed = await sealPackage({
    ...packagedCapsule(capsule),
    provenance: {
      capsule_id: capsule.id,
      ...(capsule.sourceJobId && { source_job_id: capsule.sourceJobId }),
      ...(capsule.clonedFrom && { cloned_from: capsule.clonedFrom }),
      ...(capsule.imported && { imported: capsule.imported })
    },
    tasks,
    files: evidence,
    sealedAt: at,
    sealedBy,
    exitCode: body.exit_code,
    exitMessage: body.exit_message ?? null,
    margin
  })
  const text = statement({
    manifest: sealed.manifest,
    checksums: sealed.checksums,
    capsuleDigest: sealed.capsuleDigest,
    rootDigest: sealed.rootDigest,
    name: capsule.name,
    sealedAt: at,
    sealedBy,
    exitCode: body.exit_code,
    margin
  })
  return { package: sealed, files, margin, sealedAt: at, envelope: dsseEnvelope(text, signer) }
}

async function noEvidence(db: DbOrTx, capsule: CapsuleRow): Promise<ServiceError> {
  return new ServiceError(
    'validation_error',
    (await hasCompletedRun(db, capsule.id))
      ? 'evidence is of an earlier definition; run again (POST /api/capsules/:id/run, mode template, without changes), then seal'
      : 'evidence is missing: no task execution and no result; run the capsule first (POST /api/capsules/:id/run, mode template)'
  )
}

/** The results among the files, each with what its execution says of it. */
const resultsOf = (files: readonly EvidenceFile[], tasks: readonly TaskFacts[]) =>
  tasks.flatMap(({ name, hardware }) =>
    files
      .filter((file) => file.name === `tasks/${name}/result.json`)
      .map(({ content }) => ({ text: content.toString('utf8'), hardware }))
  )
