// Packages of Debian and Ubuntu, where they can be installed without asking.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { run } from './progress.mjs'

/** How long another clone, or the machine's own updates, may hold apt's locks. */
const aptLockSeconds = 300

/** Of a download that fails. */
export const aptRetries = ['-o', 'Acquire::Retries=3']

export const canInstallPackages = () => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

/** Installs a package; its output goes into `logs`. */
export async function installPackage(name, logs) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  const options = (log) => ({ env, log: join(logs, `${log}.log`), limitMs: (aptLockSeconds + 5 * 60) * 1000 })
  // The package lists of a fresh image are empty or old; a known package needs no update.
  if (!knows(name)) await updateLists(options('apt-update'))
  const lockTimeout = `DPkg::Lock::Timeout=${aptLockSeconds}`
  const args = ['-o', lockTimeout, ...aptRetries, 'install', '-y', '--no-install-recommends', name]
  await run('apt-get', args, options(`apt-${name}`))
}

const knows = (name) => spawnSync('apt-cache', ['show', name], { stdio: 'ignore' }).status === 0

// apt-get has no time-out for the lock of the package lists: it fails at once while another process updates them.
async function updateLists(options) {
  const deadline = Date.now() + aptLockSeconds * 1000
  for (;;) {
    try {
      return await run('apt-get', [...aptRetries, 'update'], options)
    } catch (error) {
      if (!error.message.includes('/lists/lock') || Date.now() > deadline) throw error
    }
    await delay(1000)
  }
}
