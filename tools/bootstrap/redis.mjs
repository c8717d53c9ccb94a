// redis-server: on PATH, else from the distribution's own packages when that can be done without asking.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onPath } from './on-path.mjs'
import { run, step } from './progress.mjs'

/** How long another clone, or the machine's own updates, may hold apt's locks. */
const aptLockSeconds = 300

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
  const options = (name) => ({ env, log: join(logs, `${name}.log`), limitMs: (aptLockSeconds + 5 * 60) * 1000 })
  // The package lists of a fresh image are empty or old; a known package needs no update.
  if (!knowsRedis()) await updateLists(options('apt-update'))
  const lockTimeout = `DPkg::Lock::Timeout=${aptLockSeconds}`
  await run(
    'apt-get',
    ['-o', lockTimeout, 'install', '-y', '--no-install-recommends', 'redis-server'],
    options('apt-redis')
  )
}

const knowsRedis = () => spawnSync('apt-cache', ['show', 'redis-server'], { stdio: 'ignore' }).status === 0

// apt-get has no time-out for the lock of the package lists: it fails at once while another process updates them.
async function updateLists(options) {
  const deadline = Date.now() + aptLockSeconds * 1000
  for (;;) {
    try {
      return await run('apt-get', ['update'], options)
    } catch (error) {
      if (!error.message.includes('/lists/lock') || Date.now() > deadline) throw error
    }
    await delay(1000)
  }
}
