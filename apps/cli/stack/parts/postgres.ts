// Postgres: the only store of jobs, money and accounts.
import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { newSecret } from '../data-dir.js'
import { type Child, type StackContext, spawnChild, untilHealthy } from './child.js'
import { onPort } from './free-port.js'
import type { PostgresHome } from './postgres-home.js'

const run = promisify(execFile)
const initLimitMs = 120_000

export interface PostgresOptions {
  home: PostgresHome
  port?: number
  /** Tests trade durability for speed; such a cluster is temporary. */
  durable: boolean
}

export type Postgres = Child & {
  /** Superuser address of the database `postgres`. */
  url: string
  port: number
}

/** Creates the cluster if there is none and starts it on the loopback address; resolves when it responds to a query. */
export async function startPostgres(options: PostgresOptions, context: StackContext): Promise<Postgres> {
  const password = await makeCluster(options)
  return onPort(options.port, async (port) => {
    const { home } = options
    const child = await spawnChild(context, {
      name: 'postgres',
      command: join(home.programs, 'bin/postgres'),
      args: ['-D', home.data, ...settings(port, options.durable).flatMap((setting) => ['-c', setting])],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      cwd: home.data,
      user: home.user,
      // Fast shutdown closes sessions and loses nothing. SIGTERM would wait for every client to disconnect.
      stopSignal: 'SIGINT',
      stopLimitMs: 15_000
    })
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
    await untilHealthy(child, () => probe(url), context)
    return Object.assign(child, { url, port })
  })
}

function settings(port: number, durable: boolean): string[] {
  const common = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    // No socket file: its path would be shared with other servers, or too long for the system.
    'unix_socket_directories=',
    'max_connections=300',
    'timezone=UTC',
    'log_timezone=UTC'
  ]
  return durable
    ? // Of pages that are logged whole, after each checkpoint: most of what a job writes. Every build of Postgres has pglz.
      [...common, 'wal_compression=pglz']
    : [...common, 'fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_wal_size=4GB']
}

// Created under another name and renamed when complete, so that a killed start leaves no incomplete cluster. Returns the
// superuser's password, which is created with the cluster and stored next to it.
async function makeCluster({ home, durable }: PostgresOptions): Promise<string> {
  const passwordFile = join(dirname(home.data), 'superuser-password')
  if (existsSync(join(home.data, 'PG_VERSION'))) {
    checkVersion(home)
    return readFileSync(passwordFile, 'utf8')
  }
  const password = newSecret()
  const draft = `${home.data}.new`
  rmSync(draft, { recursive: true, force: true })
  // initdb reads the password as the other user, from a file in a folder that only this user can enter.
  const handOver = `${home.data}.password`
  rmSync(handOver, { recursive: true, force: true })
  mkdirSync(handOver, { mode: 0o700 })
  try {
    const file = join(handOver, 'password')
    writeFileSync(file, password, { mode: 0o600 })
    if (home.user) for (const path of [file, handOver]) chownSync(path, home.user.uid, home.user.gid)
    const args = ['-D', draft, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${file}`, '--encoding=UTF8']
    const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    await run(join(home.programs, 'bin/initdb'), [...args, ...locale, ...(durable ? [] : ['--no-sync'])], {
      ...home.user,
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      timeout: initLimitMs
    })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    renameSync(draft, home.data)
    return password
  } finally {
    rmSync(handOver, { recursive: true, force: true })
  }
}

function checkVersion(home: PostgresHome): void {
  const have = readFileSync(join(home.data, 'PG_VERSION'), 'utf8').trim()
  if (have !== home.major) {
    throw new Error(
      `${home.data} has data of Postgres ${have}, but this version includes Postgres ${home.major}: dump the data with the old version and restore it with this one.`
    )
  }
}

async function probe(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    await sql`select 1`
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Creates a login role with its own database unless they exist, and sets the role's password. Returns the database's address
 * for the role. `name` and `password` never come from a user: they are inserted into the statements unescaped.
 */
export async function ensureDatabase(superuserUrl: string, name: string, password: string): Promise<string> {
  const sql = postgres(superuserUrl, { max: 1, onnotice: () => {} })
  try {
    const [role] = await sql`select 1 from pg_roles where rolname = ${name}`
    await sql.unsafe(`${role ? 'alter' : 'create'} role "${name}" login password '${password}'`)
    const [database] = await sql`select 1 from pg_database where datname = ${name}`
    if (!database) await sql.unsafe(`create database "${name}" owner "${name}"`)
  } finally {
    await sql.end({ timeout: 5 })
  }
  const url = new URL(superuserUrl)
  url.username = name
  url.password = password
  url.pathname = `/${name}`
  return url.href
}
