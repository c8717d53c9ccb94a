// The Python package of clients/python as its users have it: the wheel, built and unpacked.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'

export const pythonPackage = join(projectRoot, 'clients/python')
export const python = join(projectRoot, '.venv/bin/python')

/** @returns the folder to put on PYTHONPATH; the caller removes it. @throws Error with the builder's output. */
export function installedPythonPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'qjs-wheel-'))
  must(['-m', 'flit_core.wheel', '--outdir', folder], pythonPackage)
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'))!
  const installed = join(folder, 'installed')
  must(['-m', 'zipfile', '-e', join(folder, wheel), installed], folder)
  return installed
}

function must(args: string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(python, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`python ${args.join(' ')} exited with ${status}\n${stdout}${stderr}`)
}
