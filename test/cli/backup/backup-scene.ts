// A service with something of every kind, its backup, and empty databases to restore it into.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeCheckpoints } from '../../../services/audit/audit-checkpointing.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { startApi } from '../../support/api/api.js'
import { makePopulatedTeam } from '../../support/api/populated-team.js'
import { type EmptyDatabase, emptyDatabase } from '../../support/backups.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { type Ended, Shell } from '../qjob.js'

export const ringText = `test:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`
export const ring = readKeyRing(ringText)

export async function startBackupScene(name: string) {
  const api = await startApi(name, { keyRing: ring })
  const { db } = api.database
  /** The machine that is backed up. */
  const shell = new Shell({ DATABASE_URL: api.database.url, SECRETS_KEYS: ringText })
  const databases: EmptyDatabase[] = []
  const file = join(shell.folder, 'backup.tar.gz')
  const folderOf = (database: EmptyDatabase): string => join(shell.folder, 'restored', database.url.split('/').at(-1)!)
  const backup = (path: string, args: string[] = [], env: Record<string, string> = {}): Promise<Ended> =>
    shell.run(['admin', 'backup', join(shell.folder, path), ...args], '', env)

  const team = await makePopulatedTeam(api)
  await addJob(db, await addPerson(db), { cost: 1_000n })
  const schedule = { cron: '0 3 * * *', timezone: 'Europe/Berlin' }
  await team.owner.ask('PUT', `/api/capsules/${team.capsules.sealed}/schedule`, schedule)
  mkdirSync(join(shell.folder, '.data'))
  await writeCheckpoints(db, join(shell.folder, '.data', 'audit-checkpoints.jsonl'))

  return {
    api,
    shell,
    team,
    file,
    backup,
    /** The backup of `file`. */
    made: await backup('backup.tar.gz'),
    /** The data folder of the machine on which a database is restored. */
    folderOf,

    async empty(): Promise<EmptyDatabase> {
      const database = await emptyDatabase()
      databases.push(database)
      return database
    },

    /** Restores on a new machine, where nothing of the first is known. */
    restore: (
      database: EmptyDatabase,
      path: string,
      args: string[] = [],
      env: Record<string, string> = {},
      input: Buffer | string = ''
    ): Promise<Ended> =>
      shell.run(['admin', 'restore', path, ...args], input, {
        DATABASE_URL: database.url,
        SECRETS_KEYS: '',
        DATA_DIR: folderOf(database),
        ...env
      }),

    async dropDatabases(): Promise<void> {
      for (const database of databases.splice(0)) await database.close()
    },

    async close(): Promise<void> {
      shell.remove()
      await api.close()
    }
  }
}
