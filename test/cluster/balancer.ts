// haproxy before the apis, and PgBouncer before Postgres, with TLS.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { type Child, type StackContext, spawnChild, untilHealthy } from '../../apps/cli/stack/parts/child.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { accepts } from '../support/port.js'

interface Secret {
  cert: string
  key: string
}

export interface BalancerOptions {
  folder: string
  port: number
  apis: Readonly<Record<string, number>>
  secret: Secret
}

/** As docs/operations/deployment/few-machines.md sets it up. */
export function startBalancer({ folder, port, apis, secret }: BalancerOptions, context: StackContext): Promise<Child> {
  const certificate = join(folder, 'balancer.pem')
  writeFileSync(certificate, secret.cert + secret.key, { mode: 0o600 })
  const page = readFileSync(join(projectRoot, 'docs/operations/deployment/few-machines.md'), 'utf8')
  const sample = /```text\n(defaults\n.*?)```/s.exec(page)![1]!
  const servers = Object.entries(apis).map(([name, at]) => [`server ${name} `, `127.0.0.1:${at}`] as const)
  const configuration = servers.reduce(
    (text, [server, address]) => text.replace(new RegExp(`(${server})\\S+`), `$1${address}`),
    sample.replace(/bind \S+ ssl crt \S+/, `bind 127.0.0.1:${port} ssl crt ${certificate}`)
  )
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, `global\n  stats socket ${statesOf(folder)} mode 600 level user\n${configuration}`)
  return startProgram('haproxy', ['-db', '-f', file], port, context)
}

const statesOf = (folder: string): string => join(folder, 'balancer.sock')

/** Whether the balancer sends requests to an api. */
export async function isBalanced(folder: string, api: string): Promise<boolean> {
  const [head, ...rows] = (await textOf(connect(statesOf(folder)).end('show stat\n'))).trim().split('\n')
  const columns = head!.replace(/^# /, '').split(',')
  const isOfApi = (cells: string[]) => cells[columns.indexOf('svname')] === api
  return rows.map((row) => row.split(',')).find(isOfApi)?.[columns.indexOf('status')] === 'UP'
}

export interface PoolerOptions {
  folder: string
  port: number
  /** Address of the database for the service's role. */
  databaseUrl: string
  secret: Secret
  /** Whom PgBouncer runs as, since it refuses to run as root. */
  user: { uid: number; gid: number } | undefined
}

/** In transaction mode. @returns the process; clients use the role and password of `databaseUrl`. */
export function startPooler(options: PoolerOptions, context: StackContext): Promise<Child> {
  const { folder, port, secret, user } = options
  const { username, password, hostname, port: at, pathname } = new URL(options.databaseUrl)
  const path = (name: string, content: string) => {
    const file = join(folder, name)
    writeFileSync(file, content, { mode: 0o600 })
    if (user) chownSync(file, user.uid, user.gid)
    return file
  }
  const configuration = `
[databases]
* = host=${hostname} port=${at} dbname=${pathname.slice(1)} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
server_login_retry = 1
auth_type = plain
auth_file = ${path('pooler-users.txt', `"${username}" "${decodeURIComponent(password)}"\n`)}
client_tls_sslmode = require
client_tls_cert_file = ${path('pooler.crt', secret.cert)}
client_tls_key_file = ${path('pooler.key', secret.key)}
`
  chmodSync(folder, 0o711)
  // It becomes this user itself: the program can lie in a folder that only root may enter.
  const becomes = user ? ['-u', execFileSync('id', ['-nu', String(user.uid)], { encoding: 'utf8' }).trim()] : []
  return startProgram(process.env.TEST_PGBOUNCER!, [...becomes, path('pgbouncer.ini', configuration)], port, context)
}

async function startProgram(command: string, args: string[], port: number, context: StackContext): Promise<Child> {
  const child = await spawnChild(context, {
    name: basename(command),
    command,
    args,
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.TEST_PGBOUNCER_LIBRARIES },
    cwd: '/',
    stopSignal: 'SIGTERM',
    stopLimitMs: 10_000
  })
  await untilHealthy(child, () => accepts(port), context)
  return child
}
