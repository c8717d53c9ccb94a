// Builds the console into dist/console: the page, and assets with hashed names, each with .br and .gz beside it.
//
// The page is written last, and assets of the last hour stay: a browser that has an older page may still load them.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** Beside the code of the console, what it is made of. */
export const consoleSources = [
  'apps/console',
  'domain/jobs/params',
  'domain/json',
  'domain/verification',
  'tools/build'
]

const keptMs = 3_600_000

/** @param root of the project. @param dist its folder of built files. */
export async function buildConsole(root, dist) {
  const [{ build }, { consoleConfig }] = await Promise.all([import('vite'), import('./console-config.mjs')])
  const before = process.env.NODE_ENV
  // Tests set another value, for which React is built with its checks for developers, half as large again.
  process.env.NODE_ENV = 'production'
  const made = join(dist, `console-making-${process.pid}`)
  const console = join(dist, 'console')
  try {
    const config = consoleConfig(root)
    await build({ ...config, build: { ...config.build, outDir: made } })
    const assets = filesBelow(join(made, 'assets'))
    for (const name of assets) compress(join(made, 'assets', name))
    for (const name of filesBelow(join(made, 'assets'))) put(join(made, 'assets', name), join(console, 'assets', name))
    put(join(made, 'index.html'), join(console, 'index.html'))
    removeOld(join(console, 'assets'), new Set(assets))
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
    rmSync(made, { recursive: true, force: true })
  }
}

function compress(file) {
  const text = readFileSync(file)
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: text.length }
  writeFileSync(`${file}.br`, brotliCompressSync(text, { params }))
  writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }))
}

function put(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, `${to}.${process.pid}`)
  renameSync(`${to}.${process.pid}`, to)
}

function removeOld(folder, present) {
  for (const name of filesBelow(folder)) {
    const path = join(folder, name)
    const old = Date.now() - statSync(path).mtimeMs > keptMs
    if (old && !present.has(name.replace(/\.(br|gz)$/, ''))) rmSync(path, { force: true })
  }
}

const filesBelow = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    : []
