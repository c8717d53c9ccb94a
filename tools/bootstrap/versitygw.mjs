// Versity's S3 gateway, the server of the content store's tests: on PATH, in the user's cache, or built from the pinned Go
// module. The other tests do not need it, so its absence is no failure.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildWithGo, findGo } from './go-program.mjs'
import { onPath } from './on-path.mjs'
import { say } from './progress.mjs'

const version = '1.8.0'
const goForPinned = [1, 26, 4]

/** @returns its path, or null when there is none. */
export async function findVersitygw({ root, cache, logs }) {
  const installed = onPath('versitygw')
  if (installed) return installed
  const home = join(cache, `versitygw-${version}`)
  if (existsSync(join(home, 'versitygw'))) return join(home, 'versitygw')
  const go = findGo(goForPinned)
  if (go) return build(go, home, root, logs).catch((error) => say(error.message) ?? null)
  say(
    'No S3 server: the tests of the content store against one are skipped. Install versitygw, or Go 1.26.4 or later to build it.'
  )
  return null
}

const build = (go, home, root, logs) =>
  buildWithGo(go, {
    name: 'versitygw',
    home,
    label: `versitygw ${version} (built with Go, once, about 4 minutes)`,
    log: join(logs, 'versitygw-build.log'),
    make: (folder) => ({
      args: [
        'build',
        '-trimpath',
        '-ldflags',
        '-s -w',
        '-o',
        join(folder, 'versitygw'),
        'github.com/versity/versitygw/cmd/versitygw'
      ],
      cwd: join(root, 'tools/versitygw')
    })
  })
