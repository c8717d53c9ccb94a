// `npm start` as a process with its own data folder, whose output and children a test can watch.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readStackFile } from '../../../apps/cli/stack/data-dir.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { isRunning, type ProcessIdentity } from '../../../tools/process-lock.mjs'

const startLimitMs = 180_000
const waitLimitMs = 60_000

export class QjobStart {
  stdout = ''
  stderr = ''
  readonly exited: Promise<number | null>
  private readonly process: ChildProcess

  constructor(
    private readonly dataDir: string,
    env: Record<string, string> = {},
    command: string[] = [process.execPath, join(projectRoot, 'tools/qjob.mjs'), 'start']
  ) {
    // The addresses of the parts must come from the command itself. A process group of its own stands for a terminal.
    const clean = { ...process.env, DATABASE_URL: '', REDIS_URL: '', TEMPORAL_ADDRESS: '', NODE_OPTIONS: '' }
    const [program = '', ...words] = command
    this.process = spawn(program, words, {
      cwd: projectRoot,
      env: { ...clean, HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDir, RATE_LIMIT_SCALE: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true
    })
    this.process.stdout?.on('data', (chunk) => (this.stdout += chunk))
    this.process.stderr?.on('data', (chunk) => (this.stderr += chunk))
    this.exited = new Promise((resolve) => this.process.once('close', resolve))
  }

  get pid(): number {
    return this.process.pid as number
  }

  /** The ready line. */
  async ready(): Promise<string> {
    await this.until('the ready line', () => this.stdout.includes('\n') || this.process.exitCode !== null, startLimitMs)
    return this.stdout.trim()
  }

  /** Every process that the stack has recorded as its own. */
  processes(): Record<string, ProcessIdentity> {
    return readStackFile(this.dataDir)?.processes ?? {}
  }

  /** Signals the whole group, like a terminal. */
  signal(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal)
  }

  /** Waits for a state of the stack; rejects with its output when the state is not reached. */
  async until(what: string, holds: () => boolean, limitMs = waitLimitMs): Promise<void> {
    const deadline = Date.now() + limitMs
    while (!holds()) {
      if (Date.now() > deadline) throw new Error(`${what} did not come about in ${limitMs / 1000} s:\n${this.stderr}`)
      await delay(20)
    }
  }

  /** Stops whatever is left, to clean up after a test. */
  async end(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.signal('SIGKILL')
    await this.exited
  }
}

export const stillRunning = (processes: Record<string, ProcessIdentity>): string[] =>
  Object.entries(processes).flatMap(([name, identity]) => (isRunning(identity) ? [name] : []))
