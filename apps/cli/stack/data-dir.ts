// The data folder of a stack: who holds it, what runs from it, its secrets and its logs.
//
// stack.json names every process of the running stack. It is how `qjob` finds the stack, and how the next start ends
// what a killed one left behind. It is complete at every moment (written aside, renamed) and readable for its owner only.
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning, type ProcessIdentity, startOf, takeLock } from '../../../tools/process-lock.mjs'

/** Beyond this a log is moved to <name>.log.1, in the place of the earlier one. */
const logLimitBytes = 20 * 1024 * 1024
/** What the watchdog of a killed stack needs to end its children, with a margin. */
const leftoverLimitMs = 10_000

export interface StackFile {
  /** Present when the stack is ready. */
  url?: string
  temporal_ui_url?: string
  database_url?: string
  redis_url?: string
  temporal_address?: string
  executor_url?: string
  api_metrics_url?: string
  worker_metrics_url?: string
  processes: Record<string, ProcessIdentity>
}

export class DataDir {
  /** Absolute and without symbolic links: two spellings of one folder are one folder. */
  readonly path: string
  private stack: StackFile = { processes: {} }

  private constructor(
    path: string,
    private readonly lock: { release: () => void }
  ) {
    this.path = path
  }

  /** Takes the folder for this process, or throws with who has it. Ends what a killed holder left. */
  static async hold(folder: string, purpose: string): Promise<DataDir> {
    mkdirSync(join(folder, 'logs'), { recursive: true })
    // Keys and passwords: for the owner only.
    mkdirSync(join(folder, 'keys'), { recursive: true, mode: 0o700 })
    const path = realpathSync(folder)
    const lock = takeLock(join(path, 'holder.json'), purpose)
    if ('heldBy' in lock) {
      const { pid, since, purpose: holder } = lock.heldBy
      const url = readStackFile(path)?.url
      throw new Error(
        `The data folder ${path} is in use by "${holder}" (process ${pid}) since ${since}${url ? `, ${url}` : ''}. ` +
          'Stop that one, or choose another folder with DATA_DIR.'
      )
    }
    const dataDir = new DataDir(path, lock)
    await endProcesses(readStackFile(path)?.processes ?? {})
    keepEarlierLogs(join(path, 'logs'))
    dataDir.save()
    return dataDir
  }

  folder(name: string): string {
    const folder = join(this.path, name)
    mkdirSync(folder, { recursive: true })
    return folder
  }

  logFile(part: string): string {
    return join(this.path, 'logs', `${part}.log`)
  }

  /** Keeps logs within their bound. The writers append, so a log can be emptied under them. */
  trimLogs(parts: Iterable<string>): void {
    for (const part of parts) {
      const file = this.logFile(part)
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= logLimitBytes) continue
      copyFileSync(file, `${file}.1`)
      truncateSync(file)
    }
  }

  /** Writes down that a part runs as this process. */
  noteProcess(name: string, pid: number): void {
    const start = startOf(pid)
    if (start === null) return
    this.stack.processes[name] = { pid, start }
    this.save()
  }

  /** Writes down where the running stack can be reached. */
  noteAddresses(addresses: Omit<StackFile, 'processes'>): void {
    Object.assign(this.stack, addresses)
    this.save()
  }

  /** Gives the folder back; call it when no process of the stack runs any more. */
  release(): void {
    this.stack = { processes: {} }
    this.save()
    this.lock.release()
  }

  private save(): void {
    const file = stackFile(this.path)
    writeFileSync(`${file}.new`, `${JSON.stringify(this.stack, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
}

// A log begins with its stack, so that its end tells of this run; the run before is kept as <name>.log.1.
function keepEarlierLogs(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.log')) renameSync(join(folder, name), join(folder, `${name}.1`))
  }
}

const stackFile = (folder: string) => join(folder, 'stack.json')

/** What the data folder says about its stack; null when there is no such file. */
export function readStackFile(folder: string): StackFile | null {
  try {
    return JSON.parse(readFileSync(stackFile(folder), 'utf8'))
  } catch {
    return null
  }
}

/** 256 random bits, safe in a URL and on a command line. */
export const newSecret = () => randomBytes(32).toString('base64url')

/** Waits until the recorded processes are gone, as a watchdog sees to; forces it when the time is over. */
export async function endProcesses(processes: Record<string, ProcessIdentity>): Promise<void> {
  const left = () => Object.values(processes).filter(isRunning)
  const deadline = Date.now() + leftoverLimitMs
  while (left().length > 0 && Date.now() < deadline) await delay(50)
  for (const { pid } of left()) process.kill(-pid, 'SIGKILL')
  while (left().length > 0) await delay(20)
}
