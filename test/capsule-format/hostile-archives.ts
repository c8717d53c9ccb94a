// Builds archives byte by byte that no honest program writes.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export interface TarEntry {
  name: string | Buffer
  content?: Buffer
  type?: string
  /** What the header states where it differs from the truth. */
  size?: number | string
  magic?: string
  link?: string
  /** The first part of the name. */
  prefix?: string
}

export function tarHeader(entry: TarEntry): Buffer {
  const { name, content, type = '0', size, magic = 'ustar\u000000', link = '', prefix = '' } = entry
  const block = Buffer.alloc(512)
  Buffer.from(name as string).copy(block, 0, 0, 100)
  block.write('0000644\u00000000000\u00000000000\u0000', 100, 'latin1')
  const stated = size ?? content?.length ?? 0
  block.write(typeof stated === 'string' ? stated : stated.toString(8).padStart(11, '0'), 124, 'latin1')
  block.write('00000000000\u0000        ', 136, 'latin1')
  block.write(type, 156, 'latin1')
  block.write(link, 157, 'latin1')
  block.write(magic, 257, 'latin1')
  block.write(prefix, 345, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1')
  return block
}

const padded = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)])
export const END_OF_TAR = Buffer.alloc(1024)

export const tarOf = (entries: readonly TarEntry[], end: Buffer = END_OF_TAR): Buffer =>
  Buffer.concat([...entries.flatMap((entry) => [tarHeader(entry), padded(entry.content ?? Buffer.alloc(0))]), end])

export const tarGzOf = (entries: readonly TarEntry[], end?: Buffer): Buffer => gzipSync(tarOf(entries, end))

/** A PAX header with these records for the next entry. */
export function paxHeader(records: Record<string, string>, type = 'x'): TarEntry {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`
    let length = Buffer.byteLength(rest) + 1
    while (String(length).length + Buffer.byteLength(rest) !== length)
      length = String(length).length + Buffer.byteLength(rest)
    return `${length}${rest}`
  })
  return { name: 'PaxHeader', type, content: Buffer.from(lines.join('')) }
}

/** What a header states about its entry. */
interface ZipFacts {
  size?: number
  packed?: number
  crc?: number
  flags?: number
  method?: number
}

export interface ZipEntry {
  name: string | Buffer
  content: Buffer
  stored?: boolean
  /** What both headers state where they differ from the truth. */
  says?: ZipFacts & { attributes?: number; offset?: number }
  /** What only the local header states. */
  local?: ZipFacts & { name?: string; extra?: Buffer }
  /** Fields of the directory. */
  extra?: Buffer
  comment?: Buffer
  /** Bytes before the local header, and after the entry. */
  before?: Buffer
  behind?: Buffer
}

/** What the end of the archive states where it differs from the truth, and the bytes around the directory. */
export interface ZipEnd {
  count?: number
  bytes?: number
  beforeDirectory?: Buffer
  beforeEnd?: Buffer
  comment?: Buffer
}

export function zipOf(entries: readonly ZipEntry[], says: ZipEnd = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  const put = (...pieces: Buffer[]) => {
    parts.push(...pieces)
    at += pieces.reduce((sum, piece) => sum + piece.length, 0)
  }
  for (const entry of entries) {
    const { name, extra = NONE, comment = NONE, local = {} } = entry
    const data = entry.stored ? entry.content : deflateRawSync(entry.content)
    const bytes = Buffer.from(name as string)
    const localName = local.name === undefined ? bytes : Buffer.from(local.name)
    put(entry.before ?? NONE)
    directory.push(
      Buffer.from('PK\u0001\u0002\u0014\u0003', 'latin1'),
      facts(entry, data, { ...entry.says }, bytes, extra),
      directoryRest(entry, comment, at),
      bytes,
      extra,
      comment
    )
    const localExtra = local.extra ?? NONE
    put(
      Buffer.from('PK\u0003\u0004', 'latin1'),
      facts(entry, data, { ...entry.says, ...local }, localName, localExtra),
      localName,
      localExtra,
      data,
      entry.behind ?? NONE
    )
  }
  put(says.beforeDirectory ?? NONE)
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(says.count ?? entries.length, 10)
  end.writeUInt32LE(says.bytes ?? central.length, 12)
  end.writeUInt32LE(at, 16)
  const comment = says.comment ?? NONE
  end.writeUInt16LE(comment.length, 20)
  return Buffer.concat([...parts, central, says.beforeEnd ?? NONE, end, comment])
}

const NONE = Buffer.alloc(0)

/** The part that both headers share: from the version needed up to the length of the extra fields. */
function facts(
  { content, stored = false }: ZipEntry,
  data: Buffer,
  says: ZipFacts,
  name: Buffer,
  extra: Buffer
): Buffer {
  const bytes = Buffer.alloc(26)
  bytes.writeUInt16LE(20, 0)
  bytes.writeUInt16LE(says.flags ?? 0x800, 2)
  bytes.writeUInt16LE(says.method ?? (stored ? 0 : 8), 4)
  bytes.writeUInt32LE(says.crc ?? crc32(content), 10)
  bytes.writeUInt32LE(says.packed ?? data.length, 14)
  bytes.writeUInt32LE(says.size ?? content.length, 18)
  bytes.writeUInt16LE(name.length, 22)
  bytes.writeUInt16LE(extra.length, 24)
  return bytes
}

function directoryRest({ says = {} }: ZipEntry, comment: Buffer, at: number): Buffer {
  const rest = Buffer.alloc(14)
  rest.writeUInt16LE(comment.length, 0)
  rest.writeUInt32LE((says.attributes ?? 0o100644 << 16) >>> 0, 6)
  rest.writeUInt32LE(says.offset ?? at, 10)
  return rest
}

/** An extra field of a zip. */
export function extraField(id: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(id, 0)
  head.writeUInt16LE(data.length, 2)
  return Buffer.concat([head, data])
}
