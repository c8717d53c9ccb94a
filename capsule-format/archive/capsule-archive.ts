// Writes the `.capsule` archive: gzip over tar with one folder in it. The same capsule gives the same bytes on every
// machine.
import { Readable } from 'node:stream'
import { Gzip } from 'fflate'
import { pack } from 'tar-stream'
import { CHECKSUMS_NAME, MANIFEST_NAME, type PackageFile } from '../payload-file.js'
import { COMPRESSION_LEVEL, inPieces } from '../pieces.js'

/** The content of an archive to write. `checksums` is null for a capsule that is not sealed. */
export interface ArchiveInput {
  manifest: string
  checksums: string | null
  files: readonly PackageFile[]
}

/** Makes the name of a folder or download from a capsule's name: `bell-state`. Never empty, never a device name. */
export function archiveName(name: string): string {
  const plain = name
    .normalize('NFKD')
    // A letter with an accent becomes the plain letter.
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
  return plain === '' ? 'capsule' : /^(con|prn|aux|nul|com\d|lpt\d)$/.test(plain) ? `capsule-${plain}` : plain
}

/** Manifest and checksums first, then the payload in the byte order of its names. */
export function orderedFiles({ manifest, checksums, files }: ArchiveInput): PackageFile[] {
  const own = [{ name: MANIFEST_NAME, content: Buffer.from(manifest) }]
  if (checksums !== null) own.push({ name: CHECKSUMS_NAME, content: Buffer.from(checksums) })
  const named = files.map((file) => ({ file, bytes: Buffer.from(file.name) }))
  named.sort((one, other) => Buffer.compare(one.bytes, other.bytes))
  return [...own, ...named.map(({ file }) => file)]
}

const EPOCH = new Date(0)

/**
 * The archive is written while it is read, so that other work of this process continues in between. It is compressed in
 * JavaScript because the bytes that a machine's own zlib writes depend on its version and processor.
 */
export function writeCapsuleArchive(name: string, input: ArchiveInput): Readable {
  return Readable.from(gzipped(archiveName(name), orderedFiles(input)), { objectMode: false })
}

async function* gzipped(folder: string, files: readonly PackageFile[]): AsyncGenerator<Uint8Array> {
  const tar = pack()
  for (const { name, content } of files) tar.entry({ name: `${folder}/${name}`, mode: 0o644, mtime: EPOCH }, content)
  tar.finalize()
  let ready: Uint8Array[] = []
  const gzip = new Gzip({ level: COMPRESSION_LEVEL, mtime: 0 }, (chunk) => ready.push(chunk))
  for await (const piece of inPieces(tar as AsyncIterable<Buffer>)) {
    gzip.push(piece)
    yield* ready
    ready = []
  }
  gzip.push(new Uint8Array(0), true)
  yield* ready
}
