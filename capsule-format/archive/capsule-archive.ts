// The `.capsule` archive: gzip over tar with one folder in it. The same bytes for the same capsule, on every machine.
import { Readable } from 'node:stream'
import { Gzip } from 'fflate'
import { pack } from 'tar-stream'
import { CHECKSUMS_NAME, MANIFEST_NAME, type PackageFile } from '../payload-file.js'
import { COMPRESSION_LEVEL, inPieces } from '../pieces.js'

/** What an archive is written from. `checksums` null: a capsule that is not sealed. */
export interface ArchiveInput {
  manifest: string
  checksums: string | null
  files: readonly PackageFile[]
}

/** A folder's (and download's) name made of a capsule's: `bell-state`; never empty, never a device of some machine. */
export function archiveName(name: string): string {
  const plain = name
    .normalize('NFKD')
    // Of a letter with an accent, the letter stays.
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
  return plain === '' ? 'capsule' : /^(con|prn|aux|nul|com\d|lpt\d)$/.test(plain) ? `capsule-${plain}` : plain
}

/** Manifest and checksums first, then the payload by the bytes of its names: whatever order it came in. */
export function orderedFiles({ manifest, checksums, files }: ArchiveInput): PackageFile[] {
  const own = [{ name: MANIFEST_NAME, content: Buffer.from(manifest) }]
  if (checksums !== null) own.push({ name: CHECKSUMS_NAME, content: Buffer.from(checksums) })
  const named = files.map((file) => ({ file, bytes: Buffer.from(file.name) }))
  named.sort((one, other) => Buffer.compare(one.bytes, other.bytes))
  return [...own, ...named.map(({ file }) => file)]
}

const EPOCH = new Date(0)

/**
 * Written as it is read: other work of this process goes on in between. Compressed in JavaScript, since the bytes that a
 * machine's own zlib writes depend on its version and processor.
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
