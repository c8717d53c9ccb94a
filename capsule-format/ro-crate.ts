// Writes a capsule as an RO-Crate: a zip of the same files below `capsule/`, described in JSON-LD, with the signed
// attestation. The same capsule gives the same bytes on every machine.
import { Readable } from 'node:stream'
import { Zip, ZipDeflate } from 'fflate'
import { type ArchiveInput, orderedFiles } from './archive/capsule-archive.js'
import type { PackageFile } from './payload-file.js'
import { COMPRESSION_LEVEL, inPieces } from './pieces.js'
import { crateMetadata } from './ro-crate-metadata.js'

export const CRATE_METADATA_NAME = 'ro-crate-metadata.json'
export const CRATE_FOLDER = 'capsule/'
export const ATTESTATION_NAME = 'attestation.dsse.json'
export const PUBLIC_KEY_NAME = 'signing-key.pub'

export interface RoCrateInput extends ArchiveInput {
  /** JSON text of the DSSE envelope; null if the capsule is not sealed. */
  envelope: string | null
  /** PEM, for convenience. To check the attestation, take the key from the service and not from here. */
  publicKeyPem: string | null
}

/** Written while it is read; see writeCapsuleArchive. */
export function writeRoCrate(input: RoCrateInput): Readable {
  const content = orderedFiles(input).map(({ name, content }) => ({ name: `${CRATE_FOLDER}${name}`, content }))
  if (input.envelope !== null) content.push({ name: ATTESTATION_NAME, content: Buffer.from(input.envelope) })
  if (input.publicKeyPem !== null) content.push({ name: PUBLIC_KEY_NAME, content: Buffer.from(input.publicKeyPem) })
  const metadata = { name: CRATE_METADATA_NAME, content: Buffer.from(crateMetadata(input.manifest, content)) }
  return Readable.from(zipped([metadata, ...content]), { objectMode: false })
}

const UNIX = 3
// A regular file that its owner can write and all can read.
const FILE_MODE = (0o100644 << 16) >>> 0

async function* zipped(files: readonly PackageFile[]): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = []
  let failure: Error | null = null
  const zip = new Zip((error, chunk) => {
    if (error) failure = error
    else ready.push(chunk)
  })
  for (const { name, content } of files) {
    const entry = new ZipDeflate(name, { level: COMPRESSION_LEVEL })
    entry.os = UNIX
    entry.attrs = FILE_MODE
    // The earliest time that a zip can store, in the time zone of this process: zip has local times.
    entry.mtime = new Date(1980, 0, 1, 12)
    zip.add(entry)
    for await (const piece of inPieces([content])) {
      entry.push(piece)
      yield* ready
      ready = []
    }
    entry.push(new Uint8Array(0), true)
    yield* ready
    ready = []
  }
  zip.end()
  if (failure) throw failure as Error
  yield* ready
}
