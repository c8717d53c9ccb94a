// The form into which both kinds of archive are read, and the limits of reading.
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib'
import { nameProblem, packageFault, shownName } from '../payload-file.js'

export interface PackageLimits {
  /** The limit counts folders too. */
  entries: number
  fileBytes: number
  totalBytes: number
}

/** There is no limit on the compression ratio: state vectors, nearly all zeros, shrink to a thousandth. */
export const packageLimits: PackageLimits = {
  entries: 2_000,
  fileBytes: 32 * 1024 * 1024,
  totalBytes: 64 * 1024 * 1024
}

/** The content of each file by its full name in the archive. Folders are checked and left out. */
export type ArchiveEntries = Map<string, Buffer>

/** Adds a file or a folder of the archive that is being read. */
export function takeEntry(entries: ArchiveEntries, taken: Set<string>, name: string, content: Buffer | null): void {
  const plain = content === null ? name.replace(/\/$/, '') : name
  const problem = nameProblem(plain)
  if (problem) throw packageFault(`entry ${shownName(name)}: the name ${problem}`)
  if (taken.has(plain)) throw packageFault(`entry ${shownName(name)} occurs twice`)
  taken.add(plain)
  if (content !== null) entries.set(plain, content)
}

export const tooLarge = (name: string, limits: PackageLimits) =>
  packageFault(`entry ${shownName(name)}: larger than ${limits.fileBytes} bytes`)

/**
 * Inflates compressed bytes and counts them as they come out; the sizes that the bytes state are not trusted.
 * @param limit the most bytes that the result may have. @param what names the bytes in messages.
 */
export function inflated(form: 'gzip' | 'deflate', bytes: Buffer, limit: number, what: string): Promise<Buffer> {
  const inflater: Gunzip | InflateRaw = form === 'gzip' ? createGunzip() : createInflateRaw()
  const chunks: Buffer[] = []
  let size = 0
  return new Promise<Buffer>((resolve, reject) => {
    const refuse = (problem: string) => {
      chunks.length = 0
      inflater.destroy()
      reject(packageFault(`${what}: ${problem}`))
    }
    inflater.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return refuse(`inflates to more than ${limit} bytes`)
      chunks.push(chunk)
    })
    inflater.on('error', () => refuse('is damaged or cut short'))
    inflater.on('end', () => {
      if (inflater.bytesWritten !== bytes.length) return refuse('is followed by extra bytes')
      resolve(Buffer.concat(chunks, size))
    })
    inflater.end(bytes)
  })
}
