// The Temporal server binary: on PATH, in the user's cache, downloaded, or built from the pinned Go module.
import { spawnSync } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { atLeast, buildWithGo, findGo, keepMade, parseVersion } from './go-program.mjs'
import { onPath } from './on-path.mjs'
import { say, step } from './progress.mjs'

const version = '1.8.2'
/** The version of the binary built with an older Go; its server lacks nothing that the product uses. */
const olderVersion = '1.5.1'
const goForPinned = [1, 26, 4]
const goForOlder = [1, 24, 0]
/** A machine without a way out answers late or never: after this the build begins. */
const downloadAnswerMs = 3000
const downloadLimitMs = 5 * 60_000

/** The path of a Temporal CLI of version 1.5 or later. Throws with what to do when there is none and none can be made. */
export async function findTemporal({ root, cache, logs }) {
  const installed = onPath('temporal')
  if (installed && atLeast(versionOf(installed), [1, 5, 0])) return installed
  for (const wanted of [version, olderVersion]) {
    const cached = join(cache, `temporal-${wanted}`, 'temporal')
    if (existsSync(cached)) return cached
  }
  return (await download(cache)) ?? (await build(root, cache, logs))
}

function versionOf(binary) {
  const answer = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 60_000 })
  return parseVersion(/version (\d+\.\d+\.\d+)/.exec(answer.stdout ?? '')?.[1])
}

// The official archive, over HTTPS. What arrives has to run and to name the pinned version before it is kept.
async function download(cache) {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch]
  const platform = { linux: 'linux', darwin: 'darwin' }[process.platform]
  if (!arch || !platform) return null
  const base = process.env.TEMPORAL_DOWNLOAD_URL ?? 'https://temporal.download/cli/archive'
  const address = `${base}/v${version}?platform=${platform}&arch=${arch}`
  const draft = join(cache, `temporal-${version}.making-${process.pid}`)
  try {
    const response = await answered(address)
    return await step(`Temporal ${version} (download)`, async () => {
      mkdirSync(draft, { recursive: true })
      const archive = join(draft, 'archive.tar.gz')
      const signal = AbortSignal.timeout(downloadLimitMs)
      await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), { signal })
      const unpacked = spawnSync('tar', ['-xzf', archive, '-C', draft, 'temporal'], { encoding: 'utf8' })
      if (unpacked.status !== 0) throw new Error(`the archive cannot be unpacked: ${unpacked.stderr.trim()}`)
      rmSync(archive)
      const arrived = versionOf(join(draft, 'temporal'))
      if (arrived?.join('.') !== version)
        throw new Error(`the archive holds version ${arrived?.join('.') ?? 'unknown'}`)
      return keepMade(draft, join(cache, `temporal-${version}`), 'temporal')
    })
  } catch (error) {
    const why = error.cause?.code ?? error.message.split('\n')[0]
    say(`      no download of Temporal from ${new URL(address).host} (${why}): building it instead`)
    return null
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

// The limit is for the answer alone: a slow body may take minutes.
async function answered(address) {
  const patience = new AbortController()
  const timer = setTimeout(
    () => patience.abort(new Error(`no answer in ${downloadAnswerMs / 1000} s`)),
    downloadAnswerMs
  )
  try {
    const response = await fetch(address, { signal: patience.signal })
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`)
    return response
  } finally {
    clearTimeout(timer)
  }
}

async function build(root, cache, logs) {
  const log = join(logs, 'temporal-build.log')
  const pinned = findGo(goForPinned)
  if (pinned) return buildPinned(pinned, root, cache, log)
  const older = findGo(goForOlder)
  if (older) return buildOlder(older, cache, log)
  throw new Error(
    'Temporal is missing and cannot be built (Go 1.24 or later is not on PATH). Do one of these: install the ' +
      'Temporal CLI >= 1.5 (https://docs.temporal.io/cli), install Go >= 1.26.4 (https://go.dev/dl), or set ' +
      'TEMPORAL_ADDRESS to a running Temporal server.'
  )
}

function buildPinned(go, root, cache, log) {
  const flags = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${version}`
  const program = 'github.com/temporalio/cli/cmd/temporal'
  return buildWithGo(go, {
    name: 'temporal',
    home: join(cache, `temporal-${version}`),
    label: `Temporal ${version} (built with Go, once, about 3 minutes)`,
    log,
    make: (folder) => ({
      args: ['build', '-trimpath', '-ldflags', flags, '-o', join(folder, 'temporal'), program],
      cwd: join(root, 'tools/temporal')
    })
  })
}

function buildOlder(go, cache, log) {
  return buildWithGo(go, {
    name: 'temporal',
    home: join(cache, `temporal-${olderVersion}`),
    label: `Temporal ${olderVersion} (built with Go, once)`,
    log,
    make: (folder) => ({
      args: ['install', `github.com/temporalio/cli/cmd/temporal@v${olderVersion}`],
      env: { GOBIN: folder }
    })
  })
}
