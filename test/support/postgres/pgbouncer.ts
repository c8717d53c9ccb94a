// PgBouncer before a Postgres: it takes every user, and signs in as one.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type StackContext, spawnChild, untilHealthy } from '../../../apps/cli/stack/parts/child.js'
import { onPort } from '../../../apps/cli/stack/parts/free-port.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'
import { testWith } from '../needed-program.js'
import { accepts } from '../port.js'

const program = process.env.TEST_PGBOUNCER || null

export const hasPgbouncer = program !== null

/** Declares a test that needs PgBouncer. */
export const poolerTest = testWith(program, 'There is no PgBouncer: install it, or set PGBOUNCER_PATH')

export interface PoolerOptions {
  mode: 'session' | 'transaction'
  /** Sessions at Postgres for each database. */
  size: number
  /** Address of Postgres, with the user of its sessions. */
  server: string
}

export async function startPgbouncer({ mode, size, server }: PoolerOptions) {
  const { hostname, port: serverPort, username, password } = new URL(server)
  const folder = join(projectRoot, '.test', 'servers', `pgbouncer-${mode}-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const watchdog = new Watchdog()
  const context: StackContext = {
    logFile: (part) => join(folder, `${part}.log`),
    watchdog,
    signal: new AbortController().signal
  }
  const started = await onPort(undefined, async (port) => {
    const settings = join(folder, 'pgbouncer.ini')
    writeFileSync(
      settings,
      `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 300
`
    )
    const child = await spawnChild(context, {
      name: 'pgbouncer',
      command: program!,
      // It refuses to run as root.
      args: [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), settings],
      env: { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.TEST_PGBOUNCER_LIBRARIES },
      cwd: folder,
      stopSignal: 'SIGTERM',
      stopLimitMs: 2_000
    })
    await untilHealthy(child, () => accepts(port), context)
    return { child, port }
  })
  return {
    /** The same database, through the pooler. */
    through(databaseUrl: string): string {
      const url = new URL(databaseUrl)
      url.host = `127.0.0.1:${started.port}`
      return url.href
    },
    /** @param signal `SIGSTOP` freezes it, and `SIGCONT` thaws it. */
    signal: (signal: NodeJS.Signals) => process.kill(started.child.pid, signal),
    async stop(): Promise<void> {
      await started.child.stop()
      watchdog.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
