// Helm, which renders the chart for its tests: on PATH, in the user's cache, or built from the pinned Go module. The other tests
// do not need it, so its absence is no failure.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { atLeast, buildWithGo, findGo, parseVersion } from './go-program.mjs'
import { onPath } from './on-path.mjs'
import { say } from './progress.mjs'

const version = '3.22.0'
/** The first version that reads the schema's draft. */
const oldestVersion = [3, 18, 0]
const goForPinned = [1, 26, 4]

/** @returns its path, or null when there is none. */
export async function findHelm({ root, cache, logs }) {
  const installed = onPath('helm')
  if (installed && atLeast(versionOf(installed), oldestVersion)) return installed
  const home = join(cache, `helm-${version}`)
  if (existsSync(join(home, 'helm'))) return join(home, 'helm')
  const go = findGo(goForPinned)
  if (go) return build(go, home, root, logs).catch((error) => say(error.message) ?? null)
  say('No Helm: the tests of the chart are skipped. Install Helm 3.18 or later, or Go 1.26.4 or later to build it.')
  return null
}

function versionOf(binary) {
  const { stdout } = spawnSync(binary, ['version', '--template', '{{.Version}}'], { encoding: 'utf8', timeout: 60_000 })
  return parseVersion(/^v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1])
}

function build(go, home, root, logs) {
  const flags = `-s -w -X helm.sh/helm/v3/internal/version.version=v${version}`
  return buildWithGo(go, {
    name: 'helm',
    home,
    label: `Helm ${version} (built with Go, once, about 3 minutes)`,
    log: join(logs, 'helm-build.log'),
    make: (folder) => ({
      args: ['build', '-trimpath', '-ldflags', flags, '-o', join(folder, 'helm'), 'helm.sh/helm/v3/cmd/helm'],
      cwd: join(root, 'tools/helm')
    })
  })
}
