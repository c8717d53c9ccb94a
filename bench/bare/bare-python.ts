// Runs the bench's programs without the platform: in one warm Python process, and each in a new one.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../../apps/cli/stack/project.js'

const run = promisify(execFile)
const python = join(projectRoot, '.venv/bin/python')
const script = join(projectRoot, 'bench/bare/bare.py')

/** The executor limits a run and its libraries to one core; `cores` sets the same limit here, default: all cores. */
const environment = (cores?: number) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  ...(cores && { OMP_NUM_THREADS: String(cores), RAYON_NUM_THREADS: String(cores) })
})

export const programFile = (name: string): string => join(projectRoot, 'bench/programs', name)

/** Milliseconds of each of `times` runs in one process, after a first run that pays for the imports and is not counted. */
export async function warmRuns(framework: string, file: string, times: number, cores?: number): Promise<number[]> {
  const args = [script, framework, file, '1024', String(times + 1)]
  const { stdout } = await run(python, args, { env: environment(cores) })
  return (JSON.parse(stdout) as number[]).slice(1)
}

/** Milliseconds of a new interpreter that runs the program once. */
export async function coldRun(framework: string, file: string): Promise<number> {
  const started = performance.now()
  await run(python, [script, framework, file, '1024'], { env: environment() })
  return performance.now() - started
}
