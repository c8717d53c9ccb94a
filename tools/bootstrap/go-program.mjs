// Programs that Go builds, each into a folder of the cache that has its version in the name.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onPath } from './on-path.mjs'
import { run, step } from './progress.mjs'

const buildLimitMs = 30 * 60_000

/** @returns the three numbers of a version, or null. */
export const parseVersion = (text) => (text ? text.split('.').map(Number) : null)

export function atLeast(have, wanted) {
  if (!have) return false
  const at = have.findIndex((part, i) => part !== wanted[i])
  return at === -1 || have[at] > wanted[at]
}

/** The path of Go on PATH if it is of this version or a later one, otherwise null. */
export function findGo(wanted) {
  const go = onPath('go')
  const output = go && spawnSync(go, ['version'], { encoding: 'utf8' }).stdout
  return go && atLeast(parseVersion(/go(\d+\.\d+(?:\.\d+)?)/.exec(output)?.[1]), wanted) ? go : null
}

/**
 * Builds or installs a program.
 * @param make `args` of Go for a folder that is to hold the program, and what Go needs besides.
 * @returns the path of the program in `home`.
 */
export async function buildWithGo(go, { name, home, label, log, make }) {
  const draft = `${home}.making-${process.pid}`
  const { args, cwd, env = {} } = make(draft)
  try {
    mkdirSync(draft, { recursive: true })
    await step(label, () => run(go, args, { cwd, env: { CGO_ENABLED: '0', ...env }, log, limitMs: buildLimitMs }))
    return keepMade(draft, home, name)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Moves a complete folder to its place. Another clone may have put the same version there: either one will do. */
export function keepMade(draft, home, name) {
  try {
    renameSync(draft, home)
  } catch (error) {
    if (!existsSync(join(home, name))) throw error
  }
  return join(home, name)
}
