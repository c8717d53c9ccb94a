// The Python environment of the executor: an interpreter, uv, and the locked requirements in .venv.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { onPath } from './on-path.mjs'
import { run, say, step } from './progress.mjs'

const uvVersion = '0.13.8'
/** In order of preference; 3.12 is what the lock file is tested with most. */
const versions = ['3.12', '3.13', '3.11']

/** Lock files of the environment, by what they are for. */
const requirements = { runtime: 'apps/executor/requirements.txt', dev: 'apps/executor/requirements-dev.txt' }

/** Packages for tests alone, in a folder that no program of a user sees. */
const witness = { lock: 'apps/executor/requirements-witness.txt', folder: '.venv/witness' }

/** Changes when the requirements have to be installed again. `use` is 'runtime' or 'dev'. */
export function pythonDigest(root, use) {
  const hash = createHash('sha256')
  for (const file of locks(use)) hash.update(readFileSync(join(root, file)))
  if (use === 'dev') hash.update(readFileSync(join(root, witness.lock)))
  return hash.digest('hex')
}

const locks = (use) => (use === 'dev' ? [requirements.runtime, requirements.dev] : [requirements.runtime])

export const venvPython = (root) => join(root, '.venv/bin/python')

export async function installPython({ root, cache, logs, use }) {
  const python = venvPython(root)
  const venv = join(root, '.venv')
  const wanted = locks(use).flatMap((file) => ['-r', join(root, file)])
  const uv = await findUv(cache, logs)
  if (!(existsSync(python) && probe(python))) {
    const base = findInterpreter()
    await step(`Python environment (${base.version} at ${base.executable})`, () =>
      uv
        ? run(uv, ['venv', '--quiet', '--clear', '--python', base.executable, venv], options(logs, 'venv', 120_000))
        : run(base.executable, ['-m', 'venv', '--clear', venv], options(logs, 'venv', 120_000))
    )
  }
  // The executor writes no bytecode: without it on the disk each of its starts would compile for ten seconds.
  const install = ['pip', 'install', '--compile-bytecode', '--require-hashes', '--python', python, ...wanted]
  await step('Python packages', () =>
    uv
      ? run(uv, install, options(logs, 'uv-pip', 900_000))
      : run(python, ['-m', 'pip', 'install', '--require-hashes', ...wanted], options(logs, 'pip', 900_000))
  )
  if (use === 'dev') await step('Python packages of witnesses', () => installWitness({ root, logs, python, uv }))
}

function installWitness({ root, logs, python, uv }) {
  const folder = join(root, witness.folder)
  rmSync(folder, { recursive: true, force: true })
  const wanted = ['--require-hashes', '--no-deps', '--target', folder, '-r', join(root, witness.lock)]
  return uv
    ? run(uv, ['pip', 'install', '--python', python, ...wanted], options(logs, 'uv-witness', 300_000))
    : run(python, ['-m', 'pip', 'install', ...wanted], options(logs, 'pip-witness', 300_000))
}

const options = (logs, name, limitMs) => ({ log: join(logs, `python-${name}.log`), limitMs })

// A candidate is tried by running it: python3.12 on PATH may be a pyenv shim that refuses.
function findInterpreter() {
  for (const candidate of candidates()) {
    const found = probe(candidate)
    if (found && versions.includes(found.version.split('.').slice(0, 2).join('.'))) return found
  }
  throw new Error(
    `Python is missing: install Python 3.12 (${versions.join(', ')} are supported; Debian, Ubuntu: ` +
      '`apt-get install python3 python3-venv`), or set PYTHON to the path of one.'
  )
}

function* candidates() {
  if (process.env.PYTHON) yield process.env.PYTHON
  const pyenv = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')
  const installed = existsSync(pyenv) ? readdirSync(pyenv).sort() : []
  for (const version of versions) {
    yield `python${version}`
    for (const name of installed) if (name.startsWith(`${version}.`)) yield join(pyenv, name, 'bin/python')
    const managed = onPath('uv') && spawnSync('uv', ['python', 'find', '--offline', version], { encoding: 'utf8' })
    if (managed && managed.status === 0) yield managed.stdout.trim()
  }
  yield 'python3'
}

function probe(command) {
  const script = 'import sys, json; print(json.dumps([".".join(map(str, sys.version_info[:3])), sys.executable]))'
  const answer = spawnSync(command, ['-I', '-c', script], { encoding: 'utf8', timeout: 60_000 })
  if (answer.status !== 0) return null
  const [version, executable] = JSON.parse(answer.stdout)
  return { version, executable }
}

// uv installs in seconds what takes pip a minute, but nothing depends on it: without it pip does the work.
async function findUv(cache, logs) {
  const installed = onPath('uv')
  if (installed) return installed
  const home = join(cache, `uv-${uvVersion}`)
  const uv = join(home, 'bin/uv')
  if (existsSync(uv)) return uv
  try {
    await step(`uv ${uvVersion}`, async () => {
      // Made under another name and moved when complete; uv itself is one binary and does not mind the move.
      const draft = `${home}.making-${process.pid}`
      mkdirSync(cache, { recursive: true })
      await run(findInterpreter().executable, ['-m', 'venv', draft], options(logs, 'uv-venv', 120_000))
      const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `uv==${uvVersion}`]
      await run(join(draft, 'bin/python'), args, options(logs, 'uv', 300_000))
      rmSync(home, { recursive: true, force: true })
      renameSync(draft, home)
    })
    return uv
  } catch (error) {
    say(`      uv cannot be had, pip is used instead: ${error.message.split('\n')[0]}`)
    return null
  }
}
