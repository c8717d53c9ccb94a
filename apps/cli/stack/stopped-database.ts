// The database of a data folder whose stack does not run: starts its Postgres alone, for one piece of work.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DataDir, newSecret } from './data-dir.js'
import type { StackContext } from './parts/child.js'
import { ensureDatabase, startPostgres } from './parts/postgres.js'
import { postgresHome } from './parts/postgres-home.js'
import { Watchdog } from './watchdog.js'

export interface StoppedDatabase {
  /** An absolute path. */
  dataDir: string
  /** What the folder is held for, in the message of a start that meets it. */
  purpose: string
  /** Whether to create the folder and an empty database if there are none. */
  create: boolean
  /** Prints a line for the user. */
  report(line: string): void
  /** Stops Postgres while it starts. */
  signal: AbortSignal
}

/** @throws Error if the folder is in use, or has no database and `create` is not set. */
export async function withStoppedDatabase<T>(given: StoppedDatabase, work: (url: string) => Promise<T>): Promise<T> {
  const { dataDir: folder, purpose, create, report, signal } = given
  if (!create && !existsSync(folder)) throw new Error(`there is no data folder ${folder}`)
  const dataDir = await DataDir.hold(folder, purpose)
  const watchdog = new Watchdog()
  try {
    const home = postgresHome(dataDir.path)
    if (!create && !existsSync(home.data)) throw new Error(`there is no database in ${dirname(home.data)}`)
    if (home.note) report(home.note)
    const context: StackContext = { logFile: (part) => dataDir.logFile(part), watchdog, signal }
    const postgres = await startPostgres({ home, durable: true }, context)
    try {
      dataDir.noteProcess('postgres', postgres.pid)
      return await work(await ensureDatabase(postgres.url, 'qjs', newSecret()))
    } finally {
      await postgres.stop()
    }
  } finally {
    watchdog.close()
    dataDir.release()
  }
}
