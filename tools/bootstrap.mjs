// Gets what a fresh clone lacks: npm packages, Temporal, Redis, the executor's Python environment, and for the tests a browser,
// a pooler, Helm and an S3 server.
//
// Node builtins only, since it runs before anything is installed. Each part writes its mark into dist/bootstrap.json
// after it is complete, so a run that was killed is mended by the next one, and a run with nothing to do reads one file.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findBrowser } from './bootstrap/browser.mjs'
import { findProgram } from './bootstrap/debian-programs.mjs'
import { findHelm } from './bootstrap/helm.mjs'
import { installNodeModules, nodeModulesDigest, nodeModulesPresent } from './bootstrap/node-modules.mjs'
import { findPgbouncer, librariesOf } from './bootstrap/pgbouncer.mjs'
import { elapsed, endLeftovers, say } from './bootstrap/progress.mjs'
import { installPython, pythonDigest, venvPython } from './bootstrap/python.mjs'
import { findRedis } from './bootstrap/redis.mjs'
import { findTemporal } from './bootstrap/temporal.mjs'
import { findVersitygw } from './bootstrap/versitygw.mjs'
import { startOf, takeLock } from './process-lock.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const marksFile = join(root, 'dist/bootstrap.json')
const logs = join(root, 'dist/bootstrap-logs')
/** A cold start builds Temporal, which takes minutes; a second start in the same folder waits for it this long. */
const lockLimitMs = 40 * 60_000

/** What is slow and the same for every clone is kept here. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'quantum-job-service')

/** What each command needs. */
export const needs = {
  client: ['node'],
  stack: ['node', 'temporal', 'redis', 'python'],
  tests: ['node', 'temporal', 'redis', 'pythonDev', 'browser', 'pgbouncer'],
  /** In addition to those of `tests`; both are built for minutes. */
  chart: ['helm'],
  contentStore: ['versitygw'],
  cluster: ['node', 'temporal', 'redis', 'python', 'haproxy', 'pgbouncer']
}

const parts = {
  node: {
    ready: (mark) => mark?.digest === nodeModulesDigest(root) && nodeModulesPresent(root),
    get: async () => {
      await installNodeModules(root, logs)
      return { digest: nodeModulesDigest(root) }
    }
  },
  temporal: {
    ready: (mark) => Boolean(process.env.TEMPORAL_ADDRESS) || isFile(mark?.path),
    get: async () => ({ path: await findTemporal({ root, cache, logs }) })
  },
  redis: {
    ready: (mark) => Boolean(process.env.REDIS_URL) || isFile(mark?.path),
    get: async () => ({ path: await findRedis(logs) })
  },
  browser: {
    // What was not found is looked for again on another day.
    ready: (mark) => Boolean(process.env.CHROME_PATH) || isFile(mark?.path) || mark?.missingOn === today(),
    get: async () => {
      const path = await findBrowser(logs)
      return path ? { path } : { missingOn: today() }
    }
  },
  haproxy: programPart('haproxy'),
  pgbouncer: {
    ready: (mark) => Boolean(process.env.PGBOUNCER_PATH) || isFile(mark?.path) || mark?.missingOn === today(),
    get: async () => {
      const path = await findPgbouncer({ cache, logs })
      return path ? { path } : { missingOn: today() }
    }
  },
  helm: builtPart(findHelm),
  versitygw: builtPart(findVersitygw),
  python: pythonPart('runtime'),
  pythonDev: pythonPart('dev')
}

/** What was not found is looked for again on another day. */
function builtPart(find) {
  return {
    ready: (mark) => isFile(mark?.path) || mark?.missingOn === today(),
    get: async () => {
      const path = await find({ root, cache, logs })
      return path ? { path } : { missingOn: today() }
    }
  }
}

function programPart(name) {
  return {
    ready: (mark) => isFile(mark?.path),
    get: async () => ({ path: await findProgram(name, logs) })
  }
}

function pythonPart(use) {
  return {
    // An environment with the test tools serves both uses.
    ready: (mark, marks) =>
      existsSync(venvPython(root)) &&
      (mark?.digest === pythonDigest(root, use) ||
        (use === 'runtime' && marks.pythonDev?.runtime === pythonDigest(root, use))),
    get: async () => {
      await installPython({ root, cache, logs, use })
      return { digest: pythonDigest(root, use), runtime: pythonDigest(root, 'runtime') }
    }
  }
}

const today = () => new Date().toISOString().slice(0, 10)

/** The path of the browser, or null when the bootstrap found none. */
export const browserPath = () => process.env.CHROME_PATH || readMarks().browser?.path || null

/** The path of Helm, or null when no bootstrap has looked for it or found it. */
export const helmPath = () => readMarks().helm?.path || null

/** The path of the S3 server of the tests, or null as above. */
export const versitygwPath = () => readMarks().versitygw?.path || null

/** What starts PgBouncer: its path, empty when the bootstrap found none, and the folders of its libraries. */
export function pgbouncer() {
  const path = process.env.PGBOUNCER_PATH || readMarks().pgbouncer?.path || ''
  return { path, libraries: librariesOf(path) }
}

const isFile = (path) => Boolean(path) && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false)

/** Makes the named parts ready, in parallel; rejects with one message that names what is missing and how to fix it. */
export async function bootstrap(names) {
  checkNode()
  if (missing(names).length === 0) return
  const began = Date.now()
  const lock = await patientLock()
  try {
    const wanted = missing(names)
    if (wanted.length === 0) return
    endLeftovers(logs)
    removeDrafts()
    say(`Getting the parts that are missing: ${wanted.map((name) => labels[name]).join(', ')}`)
    const results = await Promise.allSettled(wanted.map(async (name) => writeMark(name, await parts[name].get())))
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.message] : []))
    if (failed.length > 0) throw new Error(failed.join('\n\n'))
    say(`All parts are there (${elapsed(began)})`)
  } finally {
    lock.release()
  }
}

const labels = {
  node: 'npm packages',
  temporal: 'Temporal',
  redis: 'Redis',
  browser: 'Chromium',
  haproxy: 'haproxy',
  helm: 'Helm',
  pgbouncer: 'PgBouncer',
  python: 'Python environment',
  pythonDev: 'Python environment with test tools'
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Error(`Node ${process.versions.node} is too old: install Node 20.19 or later (https://nodejs.org).`)
  }
}

function missing(names) {
  const marks = readMarks()
  return names.filter((name) => !parts[name].ready(marks[name], marks))
}

function readMarks() {
  try {
    return JSON.parse(readFileSync(marksFile, 'utf8'))
  } catch {
    return {}
  }
}

function writeMark(name, mark) {
  mkdirSync(dirname(marksFile), { recursive: true })
  writeFileSync(`${marksFile}.${process.pid}`, JSON.stringify({ ...readMarks(), [name]: mark }, null, 2))
  renameSync(`${marksFile}.${process.pid}`, marksFile)
}

// What goes into the cache is made under `<name>.making-<process id>` and renamed when complete.
function removeDrafts() {
  if (!existsSync(cache)) return
  for (const name of readdirSync(cache)) {
    const maker = /\.making-(\d+)$/.exec(name)?.[1]
    if (maker && startOf(Number(maker)) === null) rmSync(join(cache, name), { recursive: true, force: true })
  }
}

async function patientLock() {
  const file = join(root, 'dist/bootstrap.lock')
  const deadline = Date.now() + lockLimitMs
  let told = false
  for (;;) {
    const lock = takeLock(file, 'bootstrap')
    if (lock.release) return lock
    if (Date.now() > deadline) {
      throw new Error(`Another bootstrap (process ${lock.heldBy.pid}, since ${lock.heldBy.since}) does not end.`)
    }
    if (!told) say(`Waiting for the bootstrap of process ${lock.heldBy.pid} in this folder`)
    told = true
    await delay(250)
  }
}
