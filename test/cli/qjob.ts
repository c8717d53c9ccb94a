// `qjob` as its users have it: the built program as a process of its own, with its own configuration folder; and a
// service for it to talk to, api and worker as processes on a database of their own.
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
  /** So far. */
  readonly output: { stdout: string; stderr: string }
  /** Reads no more of what it prints, as `head` does. */
  closeOutput(): void
  /** To `qjob` alone. */
  signal(name: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** A user's own corner: a home, a folder to work in, and what their shell exports. */
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
  start(args: string[], input = '', env: Record<string, string> = {}): Run {
    return this.spawn([process.execPath, program, ...args], input, env)
  }

  run(args: string[], input = '', env: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, input, env).ended
  }

  /** Starts `qjob` on a terminal of its own, which `typed` is written to once `after` has been shown. */
  onTerminal(args: string[], after: string, typed: string): Promise<Ended> {
    const python = join(projectRoot, '.venv/bin/python')
    return this.spawn([python, '-c', terminalScript, after, typed, process.execPath, program, ...args], '', {}).ended
  }

  private spawn([command, ...args]: string[], input: string, env: Record<string, string>): Run {
    const child = spawn(command!, args, {
      cwd: this.folder,
      env: { PATH: process.env.PATH, HOME: this.folder, ...this.env, ...env }
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text))
    // A command that does not read its input may be gone before it is written.
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
after, typed, *command = sys.argv[1:]
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

/** @param settings further variables of api and worker. */
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
