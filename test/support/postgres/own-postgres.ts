// A Postgres of a test's own, which it can stop, start and make read-only.
import { randomBytes } from 'node:crypto'
import { appendFileSync, chmodSync, cpSync, lchownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import type { StackContext } from '../../../apps/cli/stack/parts/child.js'
import { startPostgres } from '../../../apps/cli/stack/parts/postgres.js'
import { postgresHome } from '../../../apps/cli/stack/parts/postgres-home.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'

function newHome(name: string) {
  const folder = join(projectRoot, '.test', 'servers', `${name}-${randomBytes(4).toString('hex')}`)
  mkdirSync(folder, { recursive: true })
  return { folder, home: postgresHome(folder) }
}

/** @param name of its folder. @param durable a commit is on its disk, and at its standby, before it is acknowledged. */
export const startOwnPostgres = (name: string, { durable = false } = {}) => startAt(newHome(name), durable)

type OwnPostgres = Awaited<ReturnType<typeof startAt>>

async function startAt({ folder, home }: ReturnType<typeof newHome>, durable: boolean) {
  const watchdog = new Watchdog()
  const ending = new AbortController()
  const context: StackContext = { logFile: (part) => join(folder, `${part}.log`), watchdog, signal: ending.signal }
  let server = await startPostgres({ home, durable }, context)
  const { url, port } = server
  return {
    /** Superuser address of the database `postgres`. */
    url,
    port,
    home,
    stop: () => server.stop(),
    /** Like a crash. */
    async kill(): Promise<void> {
      server.kill()
      await server.exited
    },
    async start(): Promise<void> {
      server = await startPostgres({ home, port, durable }, context)
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

/** A standby that follows the primary, and without which the primary acknowledges no commit. The primary is restarted. */
export async function startStandby(primary: OwnPostgres, name: string): Promise<OwnPostgres> {
  const at = newHome(name)
  await primary.stop()
  cpSync(primary.home.data, at.home.data, { recursive: true, preserveTimestamps: true })
  cpSync(passwordFile(primary.home.data), passwordFile(at.home.data))
  const { username, password, hostname, port } = new URL(primary.url)
  const way = `host=${hostname} port=${port} user=${username} password=${password} application_name=${STANDBY}`
  appendFileSync(join(at.home.data, 'postgresql.auto.conf'), `primary_conninfo = '${way}'\n`)
  writeFileSync(join(at.home.data, 'standby.signal'), '')
  appendFileSync(join(primary.home.data, 'postgresql.auto.conf'), `synchronous_standby_names = '${STANDBY}'\n`)
  if (at.home.user) giveTo(at.home.data, at.home.user)
  const standby = startAt(at, true)
  await primary.start()
  return standby
}

const STANDBY = 'standby'

const passwordFile = (data: string): string => join(dirname(data), 'superuser-password')

/** Copies belong to who made them. */
function giveTo(folder: string, { uid, gid }: { uid: number; gid: number }): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, entry), uid, gid)
  lchownSync(folder, uid, gid)
  chmodSync(folder, 0o700)
}
