// redis-server: on PATH, else from the distribution's own packages when that can be done without asking.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { onPath } from './on-path.mjs'
import { run, step } from './progress.mjs'

export async function findRedis(logs) {
  const found = onPath('redis-server')
  if (found) return found
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    await step('Redis (apt-get install redis-server)', () => aptInstall(logs))
    const installed = onPath('redis-server')
    if (installed) return installed
  }
  throw new Error(
    'Redis is missing: install it (Debian, Ubuntu: `apt-get install redis-server`; macOS: `brew install redis`), ' +
      'or set REDIS_URL to a running Redis >= 6.2.'
  )
}

async function aptInstall(logs) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const install = ['install', '-y', '--no-install-recommends', 'redis-server']
  const options = { env, log: join(logs, 'apt-redis.log'), limitMs: 5 * 60_000 }
  // The package lists of a fresh image are empty or old; a known package needs no update.
  if (spawnSync('apt-cache', ['show', 'redis-server'], { stdio: 'ignore' }).status !== 0) {
    await run('apt-get', ['update'], { ...options, log: join(logs, 'apt-update.log') })
  }
  await run('apt-get', install, options)
}
