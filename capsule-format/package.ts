// Seals the parts of a capsule into manifest, checksums and digests. Nothing is stored or signed here: see attestation.ts.

import { assertEvidenceFits } from '../domain/capsules/capsule-size.js'
import { CanonicalJsonError } from '../domain/json/canonical-json.js'
import { checksumsText, rootDigest } from './checksums.js'
import { type CredentialFinding, scanForCredentials } from './credential-scan.js'
import {
  buildDraftManifest,
  buildManifest,
  capsuleDigest,
  manifestText,
  type PackageInput,
  packagedFiles,
  type SealInput
} from './manifest/manifest.js'
import { MANIFEST_BYTES_MAX } from './manifest/manifest-reader.js'
import { checkManifest } from './manifest/manifest-schema.js'
import { checkFiles, MANIFEST_NAME, type PackageFile, packageFault, shownName } from './payload-file.js'

export interface SealedPackage {
  /** The text of capsule.yaml, which is stored and never rewritten. */
  manifest: string
  /** The text of .checksums. */
  checksums: string
  /** `sha256:<hex>` of `checksums`. */
  rootDigest: string
  /** `mqc:1:<hex>` of `manifest`. */
  capsuleDigest: string
  /** All other files of the archive: the evidence and definition.json. */
  files: PackageFile[]
}

/**
 * @throws ServiceError `validation_error` naming the obstacle: a file's name, too much evidence (with the largest files), a
 * credential (with its position), or a field of the manifest.
 */
export async function sealPackage(input: SealInput): Promise<SealedPackage> {
  const files = packagedFiles(input)
  checkFiles(files)
  assertEvidenceFits(files.map(({ name, content }) => ({ name, size: content.length })))
  const checksums = checksumsText(files)
  const manifest = writtenManifest(() => buildManifest(input, rootDigest(checksums)))
  refuseCredentials(await scanForCredentials(files, manifest))
  return { manifest, checksums, rootDigest: rootDigest(checksums), capsuleDigest: capsuleDigest(manifest), files }
}

/** The export of a capsule that is not sealed, which states no digest. */
export function draftPackage(input: PackageInput): { manifest: string; checksums: null; files: PackageFile[] } {
  const files = packagedFiles(input)
  checkFiles(files)
  return { manifest: writtenManifest(() => buildDraftManifest(input)), checksums: null, files }
}

function writtenManifest(build: () => Parameters<typeof manifestText>[0]): string {
  const manifest = build()
  checkManifest(manifest)
  const text = canonicalText(manifest)
  const bytes = Buffer.byteLength(text)
  if (bytes <= MANIFEST_BYTES_MAX) return text
  throw packageFault(`the manifest must have at most ${MANIFEST_BYTES_MAX} bytes (got ${bytes}): use fewer tasks`)
}

function canonicalText(manifest: Parameters<typeof manifestText>[0]): string {
  try {
    return manifestText(manifest)
  } catch (error) {
    if (error instanceof CanonicalJsonError) throw packageFault(`${MANIFEST_NAME}: ${error.message}`)
    throw error
  }
}

function refuseCredentials(findings: readonly CredentialFinding[]): void {
  if (findings.length === 0) return
  const shown = findings
    .slice(0, 5)
    .map(({ file, line, kind }) => `${shownName(file)}${line ? `:${line}` : ''} (${kind})`)
  const more = findings.length > 5 ? ` and ${findings.length - 5} more` : ''
  throw packageFault(
    `what looks like a credential would be sealed: ${shown.join(', ')}${more}. Read it from a secret instead, or, if it is none, end its line with # capsule:allow`
  )
}
