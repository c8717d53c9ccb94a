// Writes a backup: tar entries into gzip, with the digest of each. What is in memory is one piece of a table, however
// large the table is.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import type { BackupFile } from '../../../domain/operations/backup.js'

/** Of a table or of the checkpoint file in one entry. */
export const PIECE_BYTES = 4 * 1024 * 1024
/** Twice as fast as the default on rows, for a tenth more bytes. */
const COMPRESSION_LEVEL = 3
const LINE_END = 0x0a

export interface ArchiveWriter {
  /** The compressed bytes. */
  bytes: Readable
  /** The entries so far. */
  files: BackupFile[]
  add(name: string, content: Buffer | string): Promise<void>
  /** Adds a folder of numbered pieces. @returns the number of line ends in it. */
  addPieces(folder: string, source: AsyncIterable<Buffer>): Promise<number>
  end(): void
}

/** @param time of the entries. */
export function createArchive(time: Date): ArchiveWriter {
  const tar = pack()
  const gzip = createGzip({ level: COMPRESSION_LEVEL })
  tar.on('error', (error) => gzip.destroy(error))
  gzip.on('close', () => tar.destroy())
  tar.pipe(gzip)
  const files: BackupFile[] = []

  async function add(name: string, given: Buffer | string): Promise<void> {
    const content = typeof given === 'string' ? Buffer.from(given) : given
    await new Promise<void>((resolve, reject) => {
      tar.entry({ name, mode: 0o600, mtime: time }, content, (error) => (error ? reject(error) : resolve()))
    })
    files.push({ name, size_bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') })
  }

  return {
    bytes: gzip,
    files,
    add,
    async addPieces(folder, source) {
      let number = 0
      let lines = 0
      let held: Buffer[] = []
      let bytes = 0
      const flush = async () => {
        const piece = Buffer.concat(held)
        held = []
        bytes = 0
        await add(`${folder}/${String(++number).padStart(8, '0')}`, piece)
      }
      for await (const chunk of source) {
        for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, at + 1)) lines++
        held.push(chunk)
        bytes += chunk.length
        if (bytes >= PIECE_BYTES) await flush()
      }
      if (bytes > 0) await flush()
      return lines
    },
    end: () => tar.finalize()
  }
}
