// A capsule as a file: the same capsule always gives the same bytes. A sealed capsule is exported as it was sealed; a later
// publication or archiving is not part of the file.
import type { Readable } from 'node:stream'
import { archiveName, writeCapsuleArchive } from '../../../../capsule-format/archive/capsule-archive.js'
import { packagedFiles } from '../../../../capsule-format/manifest/manifest.js'
import { draftPackage } from '../../../../capsule-format/package.js'
import { writeRoCrate } from '../../../../capsule-format/ro-crate.js'
import { findSigningKey } from '../../../../db/audit/signing-keys.js'
import { loadFiles } from '../../../../db/capsules/capsule-evidence.js'
import { type CapsuleRow, type CapsuleSeal, loadSeal } from '../../../../db/capsules/capsules.js'
import type { DbOrTx } from '../../../../db/client.js'
import { ServiceError } from '../../../../domain/errors.js'
import { packagedCapsule } from './capsule-in-package.js'

export const exportFormats = ['capsule', 'rocrate'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportedCapsule {
  /** The file name, in plain letters, digits, dots and hyphens. */
  fileName: string
  mediaType: string
  content: Readable
}

/** @throws ServiceError `validation_error` when a draft's definition cannot be written as a package. */
export async function exportCapsule(db: DbOrTx, capsule: CapsuleRow, format: ExportFormat): Promise<ExportedCapsule> {
  const seal = await loadSeal(db, capsule.id)
  const input = seal ? await sealedInput(db, capsule, seal) : await draftInput(db, capsule)
  const name = archiveName(capsule.name)
  if (format === 'capsule')
    return {
      fileName: `${name}.capsule`,
      mediaType: 'application/gzip',
      content: writeCapsuleArchive(name, input)
    }
  const key = seal && (await findSigningKey(db, seal.keyId))
  return {
    fileName: `${name}.crate.zip`,
    mediaType: 'application/zip',
    content: writeRoCrate({ ...input, envelope: seal?.envelope ?? null, publicKeyPem: key?.publicKeyPem ?? null })
  }
}

const sealedInput = async (db: DbOrTx, capsule: CapsuleRow, seal: CapsuleSeal) => ({
  manifest: seal.manifest,
  checksums: seal.checksums,
  files: packagedFiles({ definition: capsule.definition, files: await loadFiles(db, capsule.id) })
})

/** A draft's package has no digest, which its lifecycle_state shows; only a seal states executions. */
const draftInput = async (db: DbOrTx, capsule: CapsuleRow) =>
  draftPackage({
    ...packagedCapsule(capsule),
    tasks: [],
    files: await loadFiles(db, capsule.id)
  })

/** Returns the DSSE envelope as JSON text. @throws ServiceError `not_found` before the capsule is sealed. */
export async function attestationOf(db: DbOrTx, capsule: CapsuleRow): Promise<string> {
  const seal = await loadSeal(db, capsule.id)
  if (seal) return seal.envelope
  throw new ServiceError('not_found', `This capsule is ${capsule.state}; an attestation comes with its seal`)
}
