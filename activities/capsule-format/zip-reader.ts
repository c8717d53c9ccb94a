// Reads a zip of plain files by its central directory, and holds every entry to what its own header says.
import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { type ArchiveEntries, inflated, type PackageLimits, takeEntry, tooLarge } from './archive-entries.js'
import { packageFault, shownName } from './payload-file.js'

const STORED = 0
const DEFLATED = 8
const UTF8_FLAG = 0x800
const ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
const FILE_TYPE = 0xf000
const REGULAR = 0x8000
const FOLDER = 0x4000

/** @throws ServiceError `validation_error` naming the entry. */
export async function readZip(bytes: Buffer, limits: PackageLimits): Promise<ArchiveEntries> {
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false, validateEntrySizes: true })
    return await zipEntries(zip, bytes, limits)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'validation_error') throw error
    throw packageFault(`the archive is no zip, or a damaged one: ${(error as Error).message.slice(0, 200)}`)
  }
}

async function zipEntries(zip: ZipFile, bytes: Buffer, limits: PackageLimits): Promise<ArchiveEntries> {
  if (zip.entryCount > limits.entries) throw packageFault(`the archive holds more than ${limits.entries} entries`)
  const entries: ArchiveEntries = new Map()
  const taken = new Set<string>()
  const spans: { from: number; to: number; name: string }[] = []
  let total = 0
  for await (const entry of zip.eachEntry()) {
    const name = entryName(entry)
    checkKind(entry, name)
    const { from, packed } = await packedBytes(zip, entry, name, bytes)
    spans.push({ from, to: packed.byteOffset - bytes.byteOffset + packed.length, name })
    checkOverlap(spans)
    if (entry.uncompressedSize > limits.fileBytes) throw tooLarge(name, limits)
    const content = await unpacked(entry, packed, Math.min(limits.fileBytes, limits.totalBytes - total), limits, name)
    total += content.length
    const folder = name.endsWith('/')
    if (folder && content.length > 0) throw packageFault(`entry ${shownName(name)}: a folder with content`)
    takeEntry(entries, taken, name, folder ? null : content)
  }
  return entries
}

function entryName(entry: Entry): string {
  const raw = entry.fileNameRaw
  const ascii = raw.every((byte) => byte < 0x80)
  try {
    if (ascii || (entry.generalPurposeBitFlag & UTF8_FLAG) !== 0)
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)
  } catch {
    // Said below.
  }
  throw packageFault(`entry ${shownName(raw.toString('latin1'))}: its name is not UTF-8`)
}

function checkKind(entry: Entry, name: string): void {
  if (entry.generalPurposeBitFlag & ENCRYPTED_FLAGS) throw packageFault(`entry ${shownName(name)}: is encrypted`)
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE
  if (type !== 0 && type !== (name.endsWith('/') ? FOLDER : REGULAR))
    throw packageFault(`entry ${shownName(name)}: is a link, a device or of an unknown kind; only plain files are read`)
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw packageFault(`entry ${shownName(name)}: compression method ${entry.compressionMethod} is not read`)
}

/** Where the entry lies, as its own header says too: a reader that goes by the headers must see the same. */
async function packedBytes(zip: ZipFile, entry: Entry, name: string, bytes: Buffer) {
  const header = await zip.readLocalFileHeaderPromise(entry)
  if (!header.fileName.equals(entry.fileNameRaw) || header.compressionMethod !== entry.compressionMethod)
    throw packageFault(`entry ${shownName(name)}: its header and the directory of the archive disagree`)
  const packed = bytes.subarray(header.fileDataStart, header.fileDataStart + entry.compressedSize)
  if (packed.length < entry.compressedSize) throw packageFault(`entry ${shownName(name)}: is cut short`)
  return { from: entry.relativeOffsetOfLocalHeader, packed }
}

async function unpacked(entry: Entry, packed: Buffer, limit: number, limits: PackageLimits, name: string) {
  const what = `entry ${shownName(name)}`
  if (entry.uncompressedSize > limit) throw packageFault(`the archive holds more than ${limits.totalBytes} bytes`)
  const content =
    entry.compressionMethod === STORED
      ? packed
      : await inflated('deflate', packed, entry.uncompressedSize, limits, what)
  if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32)
    throw packageFault(`${what}: is damaged`)
  return content
}

/** The last span against those before it: many entries over the same bytes are how a small archive becomes a large one. */
function checkOverlap(spans: readonly { from: number; to: number; name: string }[]): void {
  const last = spans.at(-1)!
  const other = spans.find((span) => span !== last && span.from < last.to && last.from < span.to)
  if (other) throw packageFault(`entries ${shownName(other.name)} and ${shownName(last.name)} lie over each other`)
}
