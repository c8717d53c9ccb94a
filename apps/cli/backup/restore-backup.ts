// Restores a backup: verifies the file, then writes the rows in one transaction, in which every digest is compared again.
// The files outside the database are put in their places right before the commit.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { intoEmptyDatabase, type Restoring } from '../../../db/backup/backup-restore.js'
import { readMigrations } from '../../../db/schema/migration-files.js'
import {
  type BackupHead,
  type BackupManifest,
  CHECKPOINTS_FOLDER,
  DATABASE_FOLDER,
  restoreProblem
} from '../../../domain/operations/backup.js'
import { namedCheckpointsFile } from '../stack/checkpoints-file.js'
import { dataFolder } from '../stack/project.js'
import { secretKeysFile } from '../stack/secret-keys.js'
import { CliError } from '../terminal/cli-error.js'
import { readBackup } from './archive-reader.js'
import { isProven, type OwnKeys, ownKeys, refuseMissingKeys, ringOf } from './backup-keys.js'
import type { Place } from './database-of-service.js'
import { type RestoredFile, restoredFile } from './restored-files.js'

export interface RestoreInput {
  /** `-` is standard input, which is read once: its digests are compared before the commit alone. */
  file: string
  serviceVersion: string
  withoutKeys: boolean
  /** Accept a backup that no key at hand sealed. */
  unproven: boolean
  signal: AbortSignal
}

export interface Restored {
  manifest: BackupManifest
  /** Whether a key that did not come from the backup itself sealed it. */
  proven: boolean
  /** The files that were put in place. */
  keysFile: string | null
  checkpointsFile: string | null
}

/** @param inDatabase opens the database, which is not touched before the file is verified. */
export async function restoreBackup(
  input: RestoreInput,
  inDatabase: <T>(work: (place: Place) => Promise<T>) => Promise<T>
): Promise<Restored> {
  const own = ownKeys()
  const migrations = readMigrations()
  const check = (head: BackupHead) => refuseProblems(head, input, own, migrations)
  if (input.file !== '-') {
    const verified = await readBackup(await opened(input.file), {
      head: async (head) => check(head),
      keys: async () => {},
      chunk: async () => {
        if (input.signal.aborted) throw new CliError('refused', 'interrupted; nothing was restored')
      }
    })
    refuseUnproven(isProven(own?.ring ?? null, verified), own, input)
  }
  return inDatabase(async (place) => {
    const files: RestoredFile[] = []
    try {
      return await intoEmptyDatabase({ ...place, signal: input.signal }, migrations, (restoring) =>
        load(restoring, input, { own, check, files })
      )
    } catch (error) {
      for (const file of files) await file.discard()
      throw error
    }
  })
}

interface LoadMeans {
  own: OwnKeys | null
  check(head: BackupHead): void
  /** Those that were begun. */
  files: RestoredFile[]
}

async function load(restoring: Restoring, input: RestoreInput, { own, check, files }: LoadMeans): Promise<Restored> {
  const begun = async (...given: Parameters<typeof restoredFile>) => {
    const file = await restoredFile(...given)
    files.push(file)
    return file
  }
  const keysPath = secretKeysFile(dataFolder())
  const checkpointsPath = namedCheckpointsFile(dataFolder())
  let keys: RestoredFile | null = null
  let checkpoints: RestoredFile | null = null
  let restoredRing = own?.ring ?? null
  const read = await readBackup(await opened(input.file), {
    async head(head) {
      check(head)
      if (head.checkpoints_read_at)
        checkpoints = await begun(checkpointsPath, 'an audit checkpoint file', 'move it aside and keep it')
      await restoring.begin(head)
    },
    async keys(text) {
      if (own || input.withoutKeys) return
      restoredRing = ringOf(text)
      keys = await begun(keysPath, 'a key ring', 'restore into a new DATA_DIR')
      await keys.write(text)
    },
    async chunk(name, bytes) {
      const [folder, table] = name.split('/')
      if (folder === DATABASE_FOLDER && table) await restoring.write(table, bytes)
      else if (folder === CHECKPOINTS_FOLDER && checkpoints) await checkpoints.write(bytes)
      else throw new CliError('refused', `the backup has an entry ${JSON.stringify(name)} that does not belong there`)
    }
  })
  const proven = isProven(own?.ring ?? null, read)
  if (!own) isProven(restoredRing, read)
  refuseUnproven(proven, own, input)
  const rows = await restoring.complete()
  for (const table of read.manifest.tables)
    if (rows.get(table.name) !== table.rows)
      throw new CliError('refused', `${table.name} has ${rows.get(table.name)} rows, and ${table.rows} were backed up`)
  for (const file of files) await file.place()
  const placed = async (path: string) => ((await stat(path).catch(() => null)) ? path : null)
  return {
    manifest: read.manifest,
    proven,
    keysFile: keys && (await placed(keysPath)),
    checkpointsFile: checkpoints && (await placed(checkpointsPath))
  }
}

function refuseProblems(
  head: BackupHead,
  { serviceVersion, withoutKeys }: RestoreInput,
  own: OwnKeys | null,
  migrations: ReturnType<typeof readMigrations>
): void {
  const problem = restoreProblem(head, { version: serviceVersion, schemas: migrations.map(({ tag }) => tag) })
  if (problem) throw new CliError('refused', problem)
  if (!withoutKeys && (own || !head.includes_keys)) refuseMissingKeys(head, own)
}

function refuseUnproven(proven: boolean, own: OwnKeys | null, { unproven }: RestoreInput): void {
  if (proven || !own || unproven) return
  throw new CliError(
    'refused',
    `no key of ${own.from} sealed this backup, so nothing proves that it is of this installation: add the key, or accept it with --unproven`
  )
}

/** @throws CliError `usage` if the file cannot be read. */
async function opened(file: string): Promise<Readable> {
  if (file === '-') return process.stdin
  const stream = createReadStream(file)
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve())
    stream.once('error', (error: NodeJS.ErrnoException) =>
      reject(new CliError('usage', `${file}: cannot be read (${error.code})`))
    )
  })
  return stream
}
