// Checks where the entries of a zip are. Some readers use the directory at its end, others the header before each
// entry. Both must see the same files, so anything that lets them differ is refused, and so are any bytes before,
// between or after entries. Hand-made around yauzl, which reads the directory and does not compare it with the
// headers.
import { type Entry, fromBufferPromise, type LocalFileHeader, parseExtraFields, type ZipFile } from 'yauzl'
import { packageFault, shownName } from '../payload-file.js'

export interface ZipPlace {
  entry: Entry
  name: string
  /** Where its header begins. */
  from: number
  /** The first byte after its packed bytes. */
  to: number
  packed: Buffer
}

export const STORED = 0
export const DEFLATED = 8
const UTF8_FLAG = 0x800
/** Sizes and CRC follow the entry, because its writer did not know them before. */
const STREAMED_FLAG = 0x8
const ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000
// The compression level does not change what is inflated.
const TOLD_FLAGS = UTF8_FLAG | STREAMED_FLAG | ENCRYPTED_FLAGS

/** @throws ServiceError `validation_error` naming the entry; Error if it is not a zip. */
export async function zipPlaces(bytes: Buffer, entriesMax: number): Promise<ZipPlace[]> {
  const end = bytes.lastIndexOf('PK\u0005\u0006', bytes.length - END_BYTES, 'latin1')
  // yauzl uses zip64's larger numbers wherever they are present, other readers only where the smaller ones overflow.
  if (end >= 20 && bytes.toString('latin1', end - 20, end - 16) === 'PK\u0006\u0007')
    throw packageFault('the archive is a zip64; packages are too small to need it')
  const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false, validateEntrySizes: true })
  if (zip.entryCount > entriesMax) throw packageFault(`the archive holds more than ${entriesMax} entries`)
  const places: ZipPlace[] = []
  let directoryBytes = 0
  for await (const entry of zip.eachEntry()) {
    places.push(await placeOf(zip, entry, bytes))
    directoryBytes += 46 + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
  }
  const directory = bytes.readUInt32LE(end + 16)
  if (
    bytes.readUInt16LE(end + 8) !== zip.entryCount ||
    bytes.readUInt32LE(end + 12) !== directoryBytes ||
    directory + directoryBytes !== end
  )
    throw packageFault('the end of the archive points to a different directory')
  checkGaps(places, bytes, directory)
  return places
}

const END_BYTES = 22

async function placeOf(zip: ZipFile, entry: Entry, bytes: Buffer): Promise<ZipPlace> {
  const name = entryName(entry)
  checkKind(entry, name)
  const header = await zip.readLocalFileHeaderPromise(entry)
  if (!isSame(header, entry)) throw packageFault(`entry ${shownName(name)}: its header differs from the directory`)
  for (const { id, data } of [...entry.extraFields, ...parseExtraFields(header.extraField)])
    if (id === UNICODE_PATH && !data.subarray(5).equals(entry.fileNameRaw))
      throw packageFault(`entry ${shownName(name)}: an extra field gives it another name`)
  const to = header.fileDataStart + entry.compressedSize
  return {
    entry,
    name,
    from: entry.relativeOffsetOfLocalHeader,
    to,
    packed: bytes.subarray(header.fileDataStart, to)
  }
}

const UNICODE_PATH = 0x7075
const ZIP64 = 0x0001
/** Marks a size that is stored in an extra field instead. */
const ELSEWHERE = 0xffffffff

function isSame(header: LocalFileHeader, entry: Entry): boolean {
  if (!header.fileName.equals(entry.fileNameRaw) || header.compressionMethod !== entry.compressionMethod) return false
  if ((header.generalPurposeBitFlag ^ entry.generalPurposeBitFlag) & TOLD_FLAGS) return false
  const [size, packed] = statedSizes(header)
  const stated: [number, number][] = [
    [header.crc32, entry.crc32],
    [size, entry.uncompressedSize],
    [packed, entry.compressedSize]
  ]
  // If the sizes follow the entry, the header has none.
  return stated.every(([own, other]) => own === other || (isStreamed(entry) && (own === 0 || own === ELSEWHERE)))
}

function statedSizes({
  uncompressedSize: size,
  compressedSize: packed,
  extraField
}: LocalFileHeader): [number, number] {
  const larger = parseExtraFields(extraField).find(({ id, data }) => id === ZIP64 && data.length >= 16)?.data
  if (!larger || size !== ELSEWHERE || packed !== ELSEWHERE) return [size, packed]
  return [Number(larger.readBigUInt64LE(0)), Number(larger.readBigUInt64LE(8))]
}

const isStreamed = (entry: Entry): boolean => (entry.generalPurposeBitFlag & STREAMED_FLAG) !== 0

function entryName(entry: Entry): string {
  const raw = entry.fileNameRaw
  const ascii = raw.every((byte) => byte < 0x80)
  try {
    if (ascii || (entry.generalPurposeBitFlag & UTF8_FLAG) !== 0)
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)
  } catch {
    // Reported below.
  }
  throw packageFault(
    `entry ${shownName(raw.toString('latin1'))}: its name is not marked as UTF-8, or is not valid UTF-8`
  )
}

const FILE_TYPE = 0xf000
const REGULAR = 0x8000
const FOLDER = 0x4000
const DOS_FOLDER = 0x10

function checkKind(entry: Entry, name: string): void {
  if (entry.generalPurposeBitFlag & ENCRYPTED_FLAGS) throw packageFault(`entry ${shownName(name)}: is encrypted`)
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE
  const folder = name.endsWith('/')
  if ((type !== 0 && type !== (folder ? FOLDER : REGULAR)) || (!folder && entry.externalFileAttributes & DOS_FOLDER))
    throw packageFault(
      `entry ${shownName(name)}: is a link, a device or of an unknown kind; only plain files are accepted`
    )
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw packageFault(`entry ${shownName(name)}: compression method ${entry.compressionMethod} is not supported`)
}

/** Overlapping entries make a small archive inflate to a large one; stray bytes hide an entry from one of two readers. */
function checkGaps(places: readonly ZipPlace[], bytes: Buffer, directory: number): void {
  let at = 0
  let before: ZipPlace | null = null
  for (const place of [...places].sort((one, other) => one.from - other.from)) {
    if (place.from < at) throw packageFault(`entries ${shownName(before!.name)} and ${shownName(place.name)} overlap`)
    checkGap(bytes.subarray(at, place.from), before)
    at = place.to
    before = place
  }
  if (at > directory) throw packageFault(`entry ${shownName(before!.name)}: overlaps the directory of the archive`)
  checkGap(bytes.subarray(at, directory), before)
}

function checkGap(gap: Buffer, before: ZipPlace | null): void {
  const expected = before && isStreamed(before.entry) ? descriptors(before.entry) : [Buffer.alloc(0)]
  if (!expected.some((one) => one.equals(gap)))
    throw packageFault(
      `${before ? `after entry ${shownName(before.name)}` : 'at the beginning of the archive'}: ${gap.length} bytes belong to no entry`
    )
}

/**
 * The forms of the data that follows an entry whose header had no sizes: with or without a signature, 4 or 8 bytes a size.
 */
function descriptors({ crc32, compressedSize: packed, uncompressedSize: size }: Entry): Buffer[] {
  const short = Buffer.alloc(12)
  const long = Buffer.alloc(20)
  for (const one of [short, long]) one.writeUInt32LE(crc32, 0)
  short.writeUInt32LE(packed, 4)
  short.writeUInt32LE(size, 8)
  long.writeBigUInt64LE(BigInt(packed), 4)
  long.writeBigUInt64LE(BigInt(size), 12)
  const mark = Buffer.from('PK\u0007\u0008')
  return [short, long].flatMap((one) => [one, Buffer.concat([mark, one])])
}
