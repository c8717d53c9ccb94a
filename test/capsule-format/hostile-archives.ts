// Archives as no honest program writes them, byte by byte.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export interface TarEntry {
  name: string | Buffer
  content?: Buffer
  type?: string
  /** What the header says, where it lies. */
  size?: number | string
  magic?: string
  link?: string
}

export function tarHeader({ name, content, type = '0', size, magic = 'ustar\u000000', link = '' }: TarEntry): Buffer {
  const block = Buffer.alloc(512)
  Buffer.from(name as string).copy(block, 0, 0, 100)
  block.write('0000644\u00000000000\u00000000000\u0000', 100, 'latin1')
  const stated = size ?? content?.length ?? 0
  block.write(typeof stated === 'string' ? stated : stated.toString(8).padStart(11, '0'), 124, 'latin1')
  block.write('00000000000\u0000        ', 136, 'latin1')
  block.write(type, 156, 'latin1')
  block.write(link, 157, 'latin1')
  block.write(magic, 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1')
  return block
}

const padded = (content: Buffer): Buffer => Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)])
export const END_OF_TAR = Buffer.alloc(1024)

export const tarOf = (entries: readonly TarEntry[], end: Buffer = END_OF_TAR): Buffer =>
  Buffer.concat([...entries.flatMap((entry) => [tarHeader(entry), padded(entry.content ?? Buffer.alloc(0))]), end])

export const tarGzOf = (entries: readonly TarEntry[], end?: Buffer): Buffer => gzipSync(tarOf(entries, end))

/** A PAX header that gives the next entry these records. */
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

export interface ZipEntry {
  name: string | Buffer
  content: Buffer
  stored?: boolean
  /** What the headers say, where they lie. */
  says?: {
    size?: number
    packed?: number
    crc?: number
    flags?: number
    method?: number
    attributes?: number
    offset?: number
  }
  /** Of the local header, where it differs. */
  localName?: string
}

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, content, stored = false, says = {}, localName } of entries) {
    const data = stored ? content : deflateRawSync(content)
    const bytes = Buffer.from(name as string)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(says.flags ?? 0x800, 2)
    facts.writeUInt16LE(says.method ?? (stored ? 0 : 8), 4)
    facts.writeUInt32LE(says.crc ?? crc32(content), 10)
    facts.writeUInt32LE(says.packed ?? data.length, 14)
    facts.writeUInt32LE(says.size ?? content.length, 18)
    const local = Buffer.from(localName ?? (name as string))
    const localFacts = Buffer.from(facts)
    localFacts.writeUInt16LE(local.length, 22)
    facts.writeUInt16LE(bytes.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((says.attributes ?? 0o100644 << 16) >>> 0, 6)
    rest.writeUInt32LE(says.offset ?? at, 10)
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0003', 'latin1'), facts, rest, bytes)
    const whole = [Buffer.from('PK\u0003\u0004', 'latin1'), localFacts, local, data]
    parts.push(...whole)
    at += whole.reduce((sum, part) => sum + part.length, 0)
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, central, end])
}
