// redis-server: on PATH, else from the distribution's own packages when that can be done without asking.
import { canInstallPackages, installPackage } from './apt.mjs'
import { onPath } from './on-path.mjs'
import { step } from './progress.mjs'

export async function findRedis(logs) {
  const found = onPath('redis-server')
  if (found) return found
  if (canInstallPackages()) {
    await step('Redis (apt-get install redis-server)', () => installPackage('redis-server', logs))
    const installed = onPath('redis-server')
    if (installed) return installed
  }
  throw new Error(
    'Redis is missing: install it (Debian, Ubuntu: `apt-get install redis-server`; macOS: `brew install redis`), ' +
      'or set REDIS_URL to a running Redis >= 6.2.'
  )
}
