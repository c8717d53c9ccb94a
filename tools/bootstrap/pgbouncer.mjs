// PgBouncer, the pooler that tests put before Postgres: PGBOUNCER_PATH, else on PATH, else the distribution's package, unpacked
// into the cache and not installed, since the package would start a service. The other tests do not need it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { aptRetries } from './apt.mjs'
import { onPath } from './on-path.mjs'
import { run, say, step } from './progress.mjs'

/** The program's package, and libraries that a slim image lacks. Names of the libraries differ between distributions. */
const packages = ['pgbouncer', 'libevent-2.1-7', 'libevent-2.1-7t64', 'libc-ares2', 'libcares2']
/** Not on the PATH of ordinary users. */
const DEBIAN_PATH = '/usr/sbin/pgbouncer'
const downloadLimitMs = 300_000

/** Where the libraries of an unpacked program are, for LD_LIBRARY_PATH; empty for an installed one. */
export function librariesOf(path) {
  const folder = join(path, '../../lib')
  if (!path.includes('/unpacked-pgbouncer/') || !existsSync(folder)) return ''
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .join(':')
}

const works = (path) =>
  spawnSync(path, ['--version'], { env: { ...process.env, LD_LIBRARY_PATH: librariesOf(path) } }).status === 0

/** @returns its path, or null when there is none. */
export async function findPgbouncer({ cache, logs }) {
  const found = process.env.PGBOUNCER_PATH || onPath('pgbouncer') || (existsSync(DEBIAN_PATH) && DEBIAN_PATH)
  if (found) return found
  const unpacked = join(cache, 'unpacked-pgbouncer')
  const program = join(unpacked, 'usr/sbin/pgbouncer')
  if (!existsSync(program) && onPath('apt-get') && onPath('dpkg'))
    await step('PgBouncer (apt-get download pgbouncer)', () => unpack(unpacked, logs)).catch((error) =>
      say(error.message)
    )
  if (existsSync(program) && works(program)) return program
  say('No PgBouncer: the tests through a pooler are skipped. Install it, or set PGBOUNCER_PATH to one.')
  return null
}

async function unpack(folder, logs) {
  const draft = `${folder}.making-${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  for (const name of packages) {
    const get = run('apt-get', [...aptRetries, 'download', name], {
      cwd: draft,
      log: join(logs, `apt-${name}.log`),
      limitMs: downloadLimitMs
    })
    if (name === 'pgbouncer') await get
    else await get.catch(() => {})
  }
  for (const name of readdirSync(draft).filter((file) => file.endsWith('.deb')))
    await run('dpkg', ['-x', name, '.'], {
      cwd: draft,
      log: join(logs, 'dpkg-pgbouncer.log'),
      limitMs: downloadLimitMs
    })
  renameSync(draft, folder)
}
