// A Postgres of a test's own, which it can stop, start and make read-only.
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import type { StackContext } from '../../../apps/cli/stack/parts/child.js'
import { startPostgres } from '../../../apps/cli/stack/parts/postgres.js'
import { postgresHome } from '../../../apps/cli/stack/parts/postgres-home.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'

/** @param name of its folder. */
export async function startOwnPostgres(name: string) {
  const folder = join(projectRoot, '.test', 'servers', `${name}-${randomBytes(4).toString('hex')}`)
  mkdirSync(folder, { recursive: true })
  const home = postgresHome(folder)
  const watchdog = new Watchdog()
  const ending = new AbortController()
  const context: StackContext = { logFile: (part) => join(folder, `${part}.log`), watchdog, signal: ending.signal }
  let server = await startPostgres({ home, durable: false }, context)
  const { url, port } = server
  return {
    /** Superuser address of the database `postgres`. */
    url,
    port,
    stop: () => server.stop(),
    async start(): Promise<void> {
      server = await startPostgres({ home, port, durable: false }, context)
    },
    async run(...statements: string[]): Promise<void> {
      const sql = postgres(url, { max: 1, onnotice: () => {} })
      try {
        for (const statement of statements) await sql.unsafe(statement)
      } finally {
        await sql.end({ timeout: 5 })
      }
    },
    async remove(): Promise<void> {
      await server.stop()
      watchdog.close()
      rmSync(dirname(home.data), { recursive: true, force: true })
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
