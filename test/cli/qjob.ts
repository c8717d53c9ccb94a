// Runs the built `qjob` as its users do, in a separate process with its own configuration folder; and a service for it, api
// and worker as processes with their own database.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Child, StackContext } from '../../apps/cli/stack/parts/child.js'
import { type NodeApp, startNodeApp } from '../../apps/cli/stack/parts/node-app.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { Watchdog } from '../../apps/cli/stack/watchdog.js'
import { createTestDatabase } from '../support/stack/database.js'

export const program = join(projectRoot, 'dist/apps/cli/main.js')

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Run {
  /** The output so far. */
  readonly output: { stdout: string; stderr: string }
  /** Stops reading its output, as `head` does. */
  closeOutput(): void
  /** Sends a signal to `qjob` only. */
  signal(name: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** The environment of one user: a home, a working folder, and exported variables. */
export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), 'qjob-'))

  constructor(readonly env: Record<string, string> = {}) {}

  /** Writes a file into the folder and returns its path. */
  file(name: string, text: string | Buffer): string {
    const path = join(this.folder, name)
    writeFileSync(path, text)
    return path
  }

  /** Starts `qjob` with these arguments; `input` is its standard input. */
  start(args: string[], input: Buffer | string = '', env: Record<string, string> = {}): Run {
    return this.spawn([process.execPath, program, ...args], input, env)
  }

  run(args: string[], input: Buffer | string = '', env: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, input, env).ended
  }

  /** Starts `qjob` on a terminal of its own, and types `typed` once `after` is shown. */
  onTerminal(
    args: string[],
    after: string,
    typed: string,
    { columns = 80, env = {} }: { columns?: number; env?: Record<string, string> } = {}
  ): Promise<Ended> {
    const python = join(projectRoot, '.venv/bin/python')
    const command = [process.execPath, program, ...args]
    return this.spawn([python, '-c', terminalScript, String(columns), after, typed, ...command], '', env).ended
  }

  private spawn([command, ...args]: string[], input: Buffer | string, env: Record<string, string>): Run {
    const child = spawn(command!, args, {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, ...this.env, ...env }
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text))
    // A command that does not read its input can exit before it is written.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, ...output })))
    return { output, closeOutput: () => child.stdout.destroy(), signal: (name) => void child.kill(name), ended }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const terminalScript = `
import os, pty, sys
columns, after, typed, *command = sys.argv[1:]
command = ['sh', '-c', 'stty rows 40 cols "$0" && exec "$@"', columns, *command]
shown = b''
def read(fd):
    global shown, typed
    data = os.read(fd, 1024)
    shown += data
    if typed and after.encode() in shown:
        os.write(fd, typed.encode())
        typed = ''
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(command, read)))
`

/** @param settings additional variables of api and worker. */
export async function startService(file: string, settings: Record<string, string> = {}) {
  const database = await createTestDatabase(file)
  const folder = join(projectRoot, '.test', 'services', database.name)
  mkdirSync(folder, { recursive: true })
  const ending = new AbortController()
  const watchdog = new Watchdog()
  const context: StackContext = { logFile: (part) => join(folder, `${part}.log`), watchdog, signal: ending.signal }
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: process.env.TEST_REDIS_URL!,
    TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS!,
    TEMPORAL_TASK_QUEUE: database.name,
    QUEUE_PREFIX: database.name,
    EXECUTOR_URL: process.env.TEST_EXECUTOR_URL!,
    EXECUTOR_TOKEN: process.env.TEST_EXECUTOR_TOKEN!,
    WORKFLOW_BUNDLE: process.env.TEST_WORKFLOW_BUNDLE!,
    HOST: '127.0.0.1',
    NODE_OPTIONS: '',
    ...settings
  }
  const startApi = (port?: number): Promise<NodeApp> =>
    startNodeApp({ name: 'api', env, portVariable: 'PORT', probeHost: '127.0.0.1', ...(port && { port }) }, context)
  const startWorker = (): Promise<Child> =>
    startNodeApp({ name: 'worker', env, portVariable: 'WORKER_HEALTH_PORT', probeHost: '127.0.0.1' }, context)
  let [api, worker] = await Promise.all([startApi(), startWorker()])
  const { port } = api
  return {
    url: `http://127.0.0.1:${port}`,
    database,
    async stopApi(): Promise<void> {
      await api.stop()
    },
    async startApi(): Promise<void> {
      api = await startApi(port)
    },
    async close(): Promise<void> {
      ending.abort(new Error('the test is over'))
      for (const child of [api, worker]) child.kill()
      await Promise.all([api.exited, worker.exited])
      watchdog.close()
      await database.drop()
    }
  }
}
