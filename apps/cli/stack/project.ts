// The project folder and its version, the data folder, and the binaries that the bootstrap found. Works from the sources and from the bundles in dist/.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of package.json. A container image has no sources next to it. */
export const projectRoot = findRoot(dirname(fileURLToPath(import.meta.url)))

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  if (dirname(folder) === folder) throw new Error('No folder above this program has a package.json.')
  return findRoot(dirname(folder))
}

/** The version in package.json. */
export const projectVersion = (): string =>
  (JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string }).version

/** The absolute path of the folder with a stack's data. */
export const dataFolder = (env: NodeJS.ProcessEnv = process.env): string => resolve(env.DATA_DIR || '.data')

/** The executable that tools/bootstrap.mjs chose for a part. */
export function partBinary(part: 'temporal' | 'redis'): string {
  const file = join(projectRoot, 'dist/bootstrap.json')
  const path = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8'))[part]?.path : undefined
  if (typeof path !== 'string') throw new Error(`The ${part} server is not installed yet: run npm start once.`)
  return path
}
