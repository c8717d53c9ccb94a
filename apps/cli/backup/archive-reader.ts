// Reads a backup: the entries in their order, a chunk at a time. Each digest is compared with the manifest, which is last:
// nothing that was read may be committed before `read` has returned.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import {
  type BackupFile,
  type BackupHead,
  type BackupManifest,
  type BackupSeal,
  HEAD_NAME,
  KEYS_NAME,
  MANIFEST_NAME,
  manifestProblem,
  readHead,
  readManifest,
  readSeal,
  SEAL_NAME
} from '../../../domain/operations/backup.js'
import { CliError } from '../terminal/cli-error.js'

/** Of an entry that is read as a whole: a manifest of half a million pieces. */
const WHOLE_BYTES_MAX = 128 * 1024 * 1024

export interface BackupReader {
  head(head: BackupHead): Promise<void>
  keys(text: string): Promise<void>
  /** A chunk of another entry. */
  chunk(name: string, bytes: Buffer): Promise<void>
}

export interface ReadBackup {
  manifest: BackupManifest
  /** `null` if the backup was made without a key ring. */
  seal: BackupSeal | null
  manifestSha256: string
}

/** @throws CliError `refused` if the backup is cut short, was changed, or is none. */
export async function readBackup(source: Readable, reader: BackupReader): Promise<ReadBackup> {
  const tar = extract()
  let failure: unknown = null
  const flow = pipeline(source, createGunzip(), tar).catch((error) => {
    failure = error
  })
  try {
    const read = await readEntries(tar, reader)
    await flow
    if (failure) throw failure
    return read
  } catch (error) {
    const first = failure
    tar.destroy()
    await flow
    throw unreadable(first) ?? unreadable(error) ?? error
  }
}

async function readEntries(tar: ReturnType<typeof extract>, reader: BackupReader): Promise<ReadBackup> {
  const files: BackupFile[] = []
  let head: BackupHead | null = null
  let manifest: { value: BackupManifest; sha256: string } | null = null
  let seal: BackupSeal | null = null
  for await (const entry of tar) {
    const { name, type } = entry.header
    const digest = createHash('sha256')
    let size = 0
    const whole: Buffer[] | null = [HEAD_NAME, KEYS_NAME, MANIFEST_NAME, SEAL_NAME].includes(name) ? [] : null
    if (type !== 'file' || seal || (manifest && name !== SEAL_NAME) || (head === null) !== (name === HEAD_NAME))
      throw refused(`the entry ${JSON.stringify(name)} is not in its place; this is not a backup of this service`)
    for await (const bytes of entry as AsyncIterable<Buffer>) {
      digest.update(bytes)
      size += bytes.length
      if (whole && size > WHOLE_BYTES_MAX) throw refused(`${name} is too large`)
      if (whole) whole.push(bytes)
      else await reader.chunk(name, bytes)
    }
    const sha256 = digest.digest('hex')
    const text = whole ? Buffer.concat(whole).toString('utf8') : ''
    if (name === MANIFEST_NAME) manifest = { value: readManifest(text), sha256 }
    else if (name === SEAL_NAME) seal = readSeal(text)
    else files.push({ name, size_bytes: size, sha256 })
    if (name === HEAD_NAME) {
      head = readHead(text)
      await reader.head(head)
    } else if (name === KEYS_NAME) await reader.keys(text)
  }
  if (!head || !manifest) throw refused('the backup is cut short: its end is missing')
  const problem = manifestProblem(manifest.value, head, files)
  if (problem) throw refused(`the backup was changed or damaged: ${problem}`)
  return { manifest: manifest.value, seal, manifestSha256: manifest.sha256 }
}

const refused = (message: string): CliError => new CliError('refused', message)

/** The meaning of an error of the decompressor or of the tar reader; `null` if it is another. */
function unreadable(error: unknown): CliError | null {
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  if (code === 'Z_BUF_ERROR' || message === 'Unexpected end of data' || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return refused('the backup is cut short')
  if (code?.startsWith('Z_')) return refused('the file is not a backup, or it was damaged (not valid gzip)')
  if (message?.startsWith('Invalid tar header'))
    return refused('the file is not a backup, or it was damaged (not a tar)')
  return null
}
