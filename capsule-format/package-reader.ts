// Reads an untrusted package: no file is written to the disk, and everything is counted and compared.
import { setImmediate as turn } from 'node:timers/promises'
import { type ArchiveEntries, type PackageLimits, packageLimits } from './archive/archive-entries.js'
import { readTarGz } from './archive/tar-reader.js'
import { readZip } from './archive/zip-reader.js'
import { ENVELOPE_BYTES_MAX } from './attestation.js'
import { manifestDigest, parsedChecksums, rootDigest, sha256 } from './checksums.js'
import { scanForCredentials } from './credential-scan.js'
import type { Manifest } from './manifest/manifest.js'
import { decodedManifest, readManifest } from './manifest/manifest-reader.js'
import { checkManifest } from './manifest/manifest-schema.js'
import { CHECKSUMS_NAME, checkFiles, MANIFEST_NAME, type PackageFile, packageFault, shownName } from './payload-file.js'
import { ATTESTATION_NAME, CRATE_FOLDER, CRATE_METADATA_NAME, PUBLIC_KEY_NAME } from './ro-crate.js'

export interface ReadPackage {
  kind: 'capsule' | 'rocrate'
  manifestText: string
  manifest: Manifest
  /** Null if the package is not sealed. */
  checksums: string | null
  /** The payload, with names in NFC. */
  files: PackageFile[]
  /** `mqc:1:<hex>`, computed from the manifest. */
  capsuleDigest: string
  /** `sha256:<hex>` of `checksums`, as the manifest states it; null if the package is not sealed. */
  rootDigest: string | null
  /** JSON text of the envelope in the package (RO-Crate). */
  envelope: string | null
  /** The key in the package: an unproven claim. */
  publicKeyPem: string | null
  warnings: string[]
}

const CHECKSUMS_BYTES_MAX = 2 * 1024 * 1024
const CRATE_METADATA_BYTES_MAX = 4 * 1024 * 1024

/** @throws ServiceError `validation_error` naming the entry. */
export async function readPackage(bytes: Buffer, limits: PackageLimits = packageLimits): Promise<ReadPackage> {
  const kind = packageKind(bytes)
  const { root, warnings, ...own } =
    kind === 'capsule' ? capsuleLayout(await readTarGz(bytes, limits)) : crateLayout(await readZip(bytes, limits))
  const manifestBytes = root.get(MANIFEST_NAME)
  if (!manifestBytes) throw packageFault(`the package has no ${MANIFEST_NAME}`)
  const checksumsBytes = root.get(CHECKSUMS_NAME) ?? null
  const files = [...root]
    .filter(([name]) => name !== MANIFEST_NAME && name !== CHECKSUMS_NAME)
    .map(([name, content]) => ({ name: name.normalize('NFC'), content }))
  checkFiles(files)
  const manifestText = decodedManifest(manifestBytes)
  const manifest = readManifest(manifestText)
  checkManifest(manifest)
  const checksums = checksumsBytes === null ? null : decodedChecksums(checksumsBytes)
  const sealed = await checkDigests(manifest as unknown as Manifest, checksums, files)
  if (!sealed) warnings.push('The package is not sealed: nothing says whether its files are as they were.')
  for (const { file, line, kind } of (await scanForCredentials(files, manifestText)).slice(0, 20))
    warnings.push(`${shownName(file)}${line ? `, line ${line}` : ''} contains what looks like a credential (${kind}).`)
  return {
    kind,
    manifestText,
    manifest: manifest as unknown as Manifest,
    checksums: sealed ? checksums : null,
    files,
    capsuleDigest: manifestDigest(manifest, 'read'),
    rootDigest: sealed ? rootDigest(checksums!) : null,
    ...own,
    warnings
  }
}

function packageKind(bytes: Buffer): 'capsule' | 'rocrate' {
  if (bytes.subarray(0, 3).equals(Buffer.from([0x1f, 0x8b, 0x08]))) return 'capsule'
  if (bytes.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) return 'rocrate'
  throw packageFault('the file is neither a .capsule archive (gzip over tar) nor an RO-Crate zip')
}

interface Layout {
  root: ArchiveEntries
  envelope: string | null
  publicKeyPem: string | null
  warnings: string[]
}

function capsuleLayout(entries: ArchiveEntries): Layout {
  const folders = new Set([...entries.keys()].map((name) => name.split('/')[0]!))
  const [folder] = folders
  if (folders.size !== 1 || entries.has(folder!))
    throw packageFault('the archive must contain exactly one folder with all files in it')
  return { root: below(entries, `${folder}/`), envelope: null, publicKeyPem: null, warnings: [] }
}

function crateLayout(archive: ArchiveEntries): Layout {
  const entries = archive.has(CRATE_METADATA_NAME) ? archive : below(archive, `${soleFolder(archive)}/`)
  const metadata = entries.get(CRATE_METADATA_NAME)
  if (!metadata) throw packageFault(`the zip has no ${CRATE_METADATA_NAME}: it is not an RO-Crate`)
  checkCrateMetadata(metadata)
  const own = new Set([CRATE_METADATA_NAME, ATTESTATION_NAME, PUBLIC_KEY_NAME])
  const others = [...entries.keys()].filter((name) => !own.has(name) && !name.startsWith(CRATE_FOLDER))
  return {
    root: below(entries, CRATE_FOLDER),
    envelope: smallText(entries, ATTESTATION_NAME),
    publicKeyPem: smallText(entries, PUBLIC_KEY_NAME),
    warnings: others.slice(0, 20).map((name) => `${shownName(name)} does not belong to the capsule and was left out.`)
  }
}

function smallText(entries: ArchiveEntries, name: string): string | null {
  const bytes = entries.get(name)
  if (bytes && bytes.length > ENVELOPE_BYTES_MAX) throw packageFault(`${name}: larger than ${ENVELOPE_BYTES_MAX} bytes`)
  return bytes?.toString('utf8') ?? null
}

function soleFolder(entries: ArchiveEntries): string {
  const folders = new Set([...entries.keys()].map((name) => name.split('/')[0]!))
  return folders.size === 1 ? [...folders][0]! : ''
}

const below = (entries: ArchiveEntries, prefix: string): ArchiveEntries =>
  new Map(
    [...entries].flatMap(([name, content]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), content]] : []))
  )

function checkCrateMetadata(bytes: Buffer): void {
  if (bytes.length > CRATE_METADATA_BYTES_MAX)
    throw packageFault(`${CRATE_METADATA_NAME}: larger than ${CRATE_METADATA_BYTES_MAX} bytes`)
  try {
    const { '@graph': graph } = JSON.parse(bytes.toString('utf8')) as { '@graph'?: unknown }
    if (Array.isArray(graph)) return
  } catch {
    // Reported below.
  }
  throw packageFault(`${CRATE_METADATA_NAME}: is not JSON-LD with an @graph`)
}

function decodedChecksums(bytes: Buffer): string {
  if (bytes.length > CHECKSUMS_BYTES_MAX)
    throw packageFault(`${CHECKSUMS_NAME}: larger than ${CHECKSUMS_BYTES_MAX} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw packageFault(`${CHECKSUMS_NAME}: is not UTF-8 text`)
  }
}

/** Whether the package is sealed. If it is, every file has been checked against its seal. */
async function checkDigests(
  manifest: Manifest,
  checksums: string | null,
  files: readonly PackageFile[]
): Promise<boolean> {
  const stated = manifest.checksums_digest
  if (stated === undefined) return false
  if (checksums === null) throw packageFault(`${CHECKSUMS_NAME} is missing, but the manifest states its digest`)
  if (rootDigest(checksums) !== stated)
    throw packageFault(`${CHECKSUMS_NAME}: its digest is ${rootDigest(checksums)}, the manifest states ${stated}`)
  const expected = statedDigests(checksums)
  for (const { name, content } of files) {
    const digest = expected.get(name)
    if (digest === undefined) throw packageFault(`entry ${shownName(name)}: not listed in ${CHECKSUMS_NAME}`)
    if (digest !== sha256(content))
      throw packageFault(
        `entry ${shownName(name)}: its digest is ${sha256(content)}, ${CHECKSUMS_NAME} states ${digest}`
      )
    expected.delete(name)
    if (content.length > 1024 * 1024) await turn()
  }
  const [missing] = expected.keys()
  if (missing !== undefined) throw packageFault(`entry ${shownName(missing)}: listed in ${CHECKSUMS_NAME} but missing`)
  return true
}

/** Also reads the older form, a YAML mapping of names to digests, which is never written. */
function statedDigests(checksums: string): Map<string, string> {
  if (checksums === '' || /^\ufeff?\s*[A-Za-z0-9]+:[0-9A-Fa-f]{8,}\s/.test(checksums)) return parsedChecksums(checksums)
  const digests = new Map<string, string>()
  for (const [name, digest] of Object.entries(olderChecksums(checksums))) {
    const hex = typeof digest === 'string' ? /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1] : undefined
    if (hex === undefined) throw packageFault(`${CHECKSUMS_NAME}: ${shownName(name)} has no sha256 digest`)
    digests.set(name, hex)
  }
  return digests
}

function olderChecksums(text: string): Record<string, unknown> {
  try {
    return readManifest(text)
  } catch {
    throw packageFault(`${CHECKSUMS_NAME}: must be lines of digests or a mapping of names to digests`)
  }
}
