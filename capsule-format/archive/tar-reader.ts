// Reads a tar of plain files. Every tar reader must see the same files, so only the plainest form is accepted (ustar, with
// PAX or GNU names), and no bytes between or after the entries. Hand-made for that reason: readers from libraries accept
// whatever they can make sense of.

import { packageFault, shownName } from '../payload-file.js'
import { type ArchiveEntries, inflated, type PackageLimits, takeEntry, tooLarge } from './archive-entries.js'

const BLOCK = 512
const HEADER_BYTES_MAX = 64 * 1024
/** Each entry has its own header, at most one that gives it a name, and some that apply to all entries. */
const HEADERS_OF_ENTRY = 3
const kinds: Record<string, string> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a FIFO',
  '7': 'a contiguous file',
  K: 'a link with a long name',
  S: 'a sparse file'
}

/** @throws ServiceError `validation_error` naming the entry. */
export async function readTarGz(bytes: Buffer, limits: PackageLimits): Promise<ArchiveEntries> {
  const overhead = limits.entries * 4 * BLOCK + 2 * HEADER_BYTES_MAX
  return tarEntries(await inflated('gzip', bytes, limits.totalBytes + overhead, 'the archive'), limits)
}

function tarEntries(tar: Buffer, limits: PackageLimits): ArchiveEntries {
  const entries: ArchiveEntries = new Map()
  const taken = new Set<string>()
  let total = 0
  /** The facts that a header states about the next entry. */
  let extended: { name: string | null } | null = null
  for (let at = 0, headers = 0; ; headers++) {
    const block = tar.subarray(at, at + BLOCK)
    if (block.length < BLOCK) throw packageFault('the archive is cut short')
    if (isZero(block)) {
      if (extended || !isZero(tar.subarray(at)))
        throw packageFault('the archive has data after its end, which readers treat differently')
      return entries
    }
    if (headers > HEADERS_OF_ENTRY * limits.entries)
      throw packageFault(`the archive holds more than ${limits.entries} entries`)
    const header = tarHeader(block)
    const start = at + BLOCK
    const content = tar.subarray(start, start + header.size)
    if (content.length < header.size) throw packageFault(`entry ${shownName(header.name)}: cut short`)
    at = start + Math.ceil(header.size / BLOCK) * BLOCK
    if ('xgL'.includes(header.type)) {
      if (header.size > HEADER_BYTES_MAX) throw packageFault('an extended header is too large')
      // One reader joins the two, another takes the last.
      if (extended) throw packageFault('an entry has two extended headers')
      const name = header.type === 'L' ? textOf(content) : paxName(content, header.type)
      if (header.type !== 'g') extended = { name }
      continue
    }
    const name: string = extended?.name ?? header.name
    extended = null
    const folder = header.type === '5'
    if (!folder && header.type !== '0')
      throw packageFault(
        `entry ${shownName(name)}: is ${kinds[header.type] ?? 'of an unknown kind'}; only plain files are accepted`
      )
    if (folder && header.size > 0) throw packageFault(`entry ${shownName(name)}: a folder with content`)
    if (content.length > limits.fileBytes) throw tooLarge(name, limits)
    total += content.length
    if (total > limits.totalBytes) throw packageFault(`the archive holds more than ${limits.totalBytes} bytes`)
    if (taken.size >= limits.entries) throw packageFault(`the archive holds more than ${limits.entries} entries`)
    takeEntry(entries, taken, name, folder ? null : content)
  }
}

interface TarHeader {
  name: string
  size: number
  /** The type of an entry; `0` stands for the older NUL too. */
  type: string
}

function tarHeader(block: Buffer): TarHeader {
  const magic = block.toString('latin1', 257, 263)
  if (octal(block, 148, 8) !== headerSum(block) || (magic !== 'ustar\u0000' && magic !== 'ustar '))
    throw packageFault('the archive is not a tar, or is damaged')
  const prefix = textOf(block.subarray(345, 500))
  // With GNU's magic, other fields are stored there, which some readers still take for a name.
  if (prefix !== '' && magic !== 'ustar\u0000')
    throw packageFault('the archive splits a name into two parts, which only some readers join')
  const short = textOf(block.subarray(0, 100))
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156]!)
  return { name: prefix === '' ? short : `${prefix}/${short}`, size: octal(block, 124, 12), type }
}

/** The sum of all bytes, with the bytes of the checksum itself counted as blanks. */
function headerSum(block: Buffer): number {
  let sum = 8 * 0x20
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += block[at]!
  return sum
}

function octal(block: Buffer, at: number, length: number): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: numbers end with NUL
  const digits = /^ *([0-7]*)[ \u0000]*$/.exec(block.toString('latin1', at, at + length))?.[1]
  if (digits === undefined) throw packageFault('a number in the archive is not octal')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

/** The text up to the first NUL. */
function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      end === -1 ? bytes : bytes.subarray(0, end)
    )
  } catch {
    throw packageFault('the name of an entry is not valid UTF-8')
  }
}

/** The path that a PAX header gives the next entry. Its other fields (times, owners) are ignored. */
function paxName(content: Buffer, type: string): string | null {
  let name: string | null = null
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const digits = content.toString('latin1', at, Math.min(space, at + 10))
    const length = /^[1-9][0-9]*$/.test(digits) ? Number(digits) : Number.NaN
    const record = content.subarray(space + 1, at + length - 1)
    const equals = record.indexOf(0x3d)
    if (!Number.isSafeInteger(length) || content[at + length - 1] !== 0x0a || at + length <= space || equals < 1)
      throw packageFault('an extended header of the archive is damaged')
    const key = record.toString('latin1', 0, equals)
    if (key === 'path' && type === 'x' && name === null) name = wholeText(record.subarray(equals + 1))
    else if (/^(path|size|linkpath|hdrcharset|GNU\.sparse\..*|SCHILY\.(realsize|filetype)|SUN\.holesdata)$/.test(key))
      throw packageFault(`an extended header of the archive sets ${key}, which only some readers apply`)
    at += length
  }
  return name
}

function wholeText(bytes: Buffer): string {
  if (bytes.includes(0)) throw packageFault('the name of an entry contains a NUL')
  return textOf(bytes)
}

const ZEROS = Buffer.alloc(64 * 1024)
function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const part = bytes.subarray(at, at + ZEROS.length)
    if (!part.equals(ZEROS.subarray(0, part.length))) return false
  }
  return true
}
