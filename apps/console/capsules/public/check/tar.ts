// Reads a tar as it arrives, one file at a time, so that of a large archive only one file is in memory. It takes what
// packages of capsules hold: files, and the extended headers with which long names are written.

const BLOCK = 512
/** As the service refuses it (docs/capsules/capsule-format.md). */
const FILE_BYTES_MAX = 32 * 1024 * 1024
const FILES_MAX = 2_000

export interface TarFile {
  name: string
  content: Uint8Array<ArrayBuffer>
}

/** An archive that cannot be read further. `at`: the file that was being read. */
export class DamagedArchive extends Error {
  constructor(
    message: string,
    readonly at: string | null
  ) {
    super(message)
  }
}

/** @throws DamagedArchive. */
export async function* filesOfTar(stream: ReadableStream<Uint8Array>): AsyncGenerator<TarFile> {
  const bytes = reading(stream)
  let longName: string | null = null
  let at: string | null = null
  for (let count = 0; ; ) {
    const header = await bytes.take(BLOCK, at)
    if (header === null || header.every((byte) => byte === 0)) return
    const { name, size, kind } = headerOf(header, at)
    if (size > FILE_BYTES_MAX) throw new DamagedArchive('a file is larger than any that a capsule can hold', name)
    if (kind !== 'x') at = longName ?? name
    const padded = await bytes.take(Math.ceil(size / BLOCK) * BLOCK, at)
    if (padded === null) throw new DamagedArchive('the archive ends too early', at)
    const content = padded.subarray(0, size)
    if (kind === 'x') {
      longName = pathOf(content)
      continue
    }
    if (kind !== '0') throw new DamagedArchive(`the archive holds something that is not a file (kind ${kind})`, at)
    if (++count > FILES_MAX) throw new DamagedArchive('the archive holds more files than a capsule can', at)
    yield { name: longName ?? name, content }
    longName = null
  }
}

const text = new TextDecoder()

function headerOf(header: Uint8Array, at: string | null): { name: string; size: number; kind: string } {
  const field = (from: number, length: number) => {
    const part = header.subarray(from, from + length)
    const end = part.indexOf(0)
    return text.decode(end < 0 ? part : part.subarray(0, end))
  }
  // The sum of all bytes, with spaces in the place of the sum itself.
  const sum = header.reduce((total, byte, place) => total + (place >= 148 && place < 156 ? 32 : byte), 0)
  if (Number.parseInt(field(148, 8), 8) !== sum) throw new DamagedArchive('the header of a file is damaged', at)
  const size = Number.parseInt(field(124, 12), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw new DamagedArchive('the header of a file has no size', at)
  const prefix = field(345, 155)
  const name = field(0, 100)
  const kind = String.fromCharCode(header[156]! || 48)
  return { name: prefix === '' ? name : `${prefix}/${name}`, size, kind }
}

/** Of lines `<length> <key>=<value>`; the length is that of the whole line in bytes. */
function pathOf(content: Uint8Array): string | null {
  for (let from = 0; from < content.length; ) {
    const space = content.indexOf(32, from)
    const length = Number.parseInt(text.decode(content.subarray(from, space)), 10)
    if (space < 0 || !(length > 0)) return null
    const line = text.decode(content.subarray(space + 1, from + length - 1))
    if (line.startsWith('path=')) return line.slice('path='.length)
    from += length
  }
  return null
}

function reading(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  let [pieces, held]: [Uint8Array[], number] = [[], 0]
  return {
    /** @returns so many bytes in an own buffer; `null` at the end. @throws DamagedArchive. */
    async take(length: number, at: string | null): Promise<Uint8Array<ArrayBuffer> | null> {
      while (held < length) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw new DamagedArchive(
            `the archive is damaged: ${error instanceof Error ? error.message : String(error)}`,
            at
          )
        })
        if (done) {
          if (held === 0 && length > 0) return null
          throw new DamagedArchive('the archive ends too early', at)
        }
        pieces.push(value)
        held += value.length
      }
      const taken = new Uint8Array(length)
      let filled = 0
      while (filled < length) {
        const piece = pieces[0]!
        const part = piece.subarray(0, length - filled)
        taken.set(part, filled)
        filled += part.length
        if (part.length === piece.length) pieces.shift()
        else pieces = [piece.subarray(part.length), ...pieces.slice(1)]
      }
      held -= length
      return taken
    }
  }
}
