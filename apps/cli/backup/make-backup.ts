// Makes a backup while the service runs: the checkpoint file, then one snapshot of the database, streamed to one file.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { databaseTime, type Snapshot, withSnapshot } from '../../../db/backup/backup-snapshot.js'
import type { BackupPlace } from '../../../db/backup/sessions.js'
import { newId } from '../../../db/ids.js'
import { type Migration, readMigrations } from '../../../db/schema/migration-files.js'
import {
  BACKUP_FORMAT,
  BACKUP_FORMAT_VERSION,
  type BackupHead,
  type BackupManifest,
  CHECKPOINTS_FOLDER,
  DATABASE_FOLDER,
  HEAD_NAME,
  KEYS_NAME,
  MANIFEST_NAME,
  SEAL_NAME
} from '../../../domain/operations/backup.js'
import { CliError } from '../terminal/cli-error.js'
import { type ArchiveWriter, createArchive } from './archive-writer.js'
import { type OwnKeys, sealOf } from './backup-keys.js'
import { sync } from './restored-files.js'

export interface BackupInput {
  place: BackupPlace
  serviceVersion: string
  /** `null` makes a backup that nothing proves. */
  keys: OwnKeys | null
  includesKeys: boolean
  /** The audit checkpoint file; `null` if there is none. */
  checkpoints: string | null
}

/** Streams a backup to `target`. @returns its manifest. */
export async function streamBackup(input: BackupInput, target: Writable): Promise<BackupManifest> {
  // Compression gives way to the service on the same machine.
  setPriority(constants.priority.PRIORITY_LOW)
  // Before the snapshot: every checkpoint in these bytes is in the snapshot.
  const checkpoints = input.checkpoints && (await checkpointBytes(input.checkpoints, input.place))
  const migrations: Migration[] = readMigrations()
  return withSnapshot(input.place, migrations, async (snapshot) => {
    const head: BackupHead = {
      format: BACKUP_FORMAT,
      format_version: BACKUP_FORMAT_VERSION,
      id: newId(),
      service_version: input.serviceVersion,
      ...snapshot.facts,
      includes_keys: input.includesKeys && input.keys !== null,
      checkpoints_read_at: checkpoints ? checkpoints.readAt : null
    }
    const archive = createArchive(new Date(head.created_at))
    const entries = writeEntries(archive, snapshot, head, input, checkpoints || null)
    let failure: unknown = null
    entries.catch((error: unknown) => {
      failure = error
      archive.bytes.destroy(error as Error)
    })
    try {
      await pipeline(archive.bytes, target, { signal: input.place.signal })
    } catch (error) {
      // A full disk, a closed pipe or a signal; unless it is the reason for which the entries ended.
      throw error === failure ? error : notWritten(error as NodeJS.ErrnoException)
    }
    return entries
  })
}

async function writeEntries(
  archive: ArchiveWriter,
  snapshot: Snapshot,
  head: BackupHead,
  { keys }: BackupInput,
  checkpoints: Checkpoints | null
): Promise<BackupManifest> {
  await archive.add(HEAD_NAME, json(head))
  if (head.includes_keys) await archive.add(KEYS_NAME, keys!.text)
  // An empty file has no bytes to read.
  if (checkpoints && checkpoints.size > 0)
    await archive.addPieces(CHECKPOINTS_FOLDER, createReadStream(checkpoints.path, { end: checkpoints.size - 1 }))
  const tables: BackupManifest['tables'] = []
  for (const table of head.tables) {
    const rows = await archive.addPieces(`${DATABASE_FOLDER}/${table.name}`, snapshot.copy(table))
    tables.push({ ...table, rows })
  }
  const manifest: BackupManifest = { ...head, tables, files: [...archive.files] }
  const text = json(manifest)
  await archive.add(MANIFEST_NAME, text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  if (keys) await archive.add(SEAL_NAME, json(sealOf(keys.ring, head, sha256)))
  archive.end()
  return manifest
}

const notWritten = (error: NodeJS.ErrnoException): CliError =>
  new CliError('refused', `the backup cannot be written (${error.code ?? error.message})`)

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`

interface Checkpoints {
  path: string
  size: number
  readAt: string
}

async function checkpointBytes(path: string, place: BackupPlace): Promise<Checkpoints | null> {
  const readAt = await databaseTime(place)
  try {
    return { path, size: (await stat(path)).size, readAt }
  } catch (error) {
    throw new CliError(
      'usage',
      `the audit checkpoint file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`
    )
  }
}

/** Writes a file that its owner alone can read, and that has its name only when it is complete and on the disk. */
export async function intoFile<T>(path: string, write: (target: Writable) => Promise<T>): Promise<T> {
  if (await stat(path).catch(() => null)) throw new CliError('usage', `${path} exists already: choose another name`)
  const draft = `${path}.${process.pid}.part`
  const target = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  await once(target, 'open').catch((error: NodeJS.ErrnoException) => {
    throw new CliError('usage', `${draft} cannot be written (${error.code})`)
  })
  try {
    const result = await write(target)
    await rename(draft, path)
    await sync(dirname(path))
    return result
  } catch (error) {
    target.destroy()
    await rm(draft, { force: true })
    throw error
  }
}
