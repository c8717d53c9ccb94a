// The data folder of a stack: its lock, its running processes, its secrets and its logs.
//
// Only its owner can read what is in the folder: logs and Temporal's histories name teams and jobs.
//
// stack.json names every process of the running stack. `qjob` finds the stack by it, and the next start stops what a killed
// one left behind. It is complete at every moment (written to a draft, then renamed), and only its owner can read it.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
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

/** A log above this size is moved to <name>.log.1 and replaces the earlier one. */
const logLimitBytes = 20 * 1024 * 1024
/** The time that the watchdog of a killed stack needs to stop its children, with a margin. */
const leftoverLimitMs = 10_000

export interface StackFile {
  /** Set when the stack is ready. */
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
  /** Absolute and without symbolic links, so that two spellings of one folder are equal. */
  readonly path: string
  private stack: StackFile = { processes: {} }

  private constructor(
    path: string,
    private readonly lock: { release: () => void }
  ) {
    this.path = path
  }

  /** Locks the folder for this process and stops what a killed holder left. @throws Error naming the present holder. */
  static async hold(folder: string, purpose: string): Promise<DataDir> {
    // Postgres runs as another user than root, and passes through the folder on the way to its own.
    makePrivate(folder, process.getuid?.() === 0 ? 0o711 : 0o700)
    for (const name of ['logs', 'keys']) makePrivate(join(folder, name))
    const path = realpathSync(folder)
    const lock = takeLock(join(path, 'holder.json'), purpose)
    if ('heldBy' in lock) {
      const { pid, since, purpose: holder } = lock.heldBy
      const url = readStackFile(path)?.url
      throw new Error(
        `The data folder ${path} is in use by "${holder}" (process ${pid}) since ${since}${url ? `, ${url}` : ''}. ` +
          'Stop that process, or choose another folder with DATA_DIR.'
      )
    }
    const dataDir = new DataDir(path, lock)
    await stopProcesses(readStackFile(path)?.processes ?? {})
    keepEarlierLogs(join(path, 'logs'))
    dataDir.save()
    return dataDir
  }

  folder(name: string): string {
    const folder = join(this.path, name)
    makePrivate(folder)
    return folder
  }

  logFile(part: string): string {
    return join(this.path, 'logs', `${part}.log`)
  }

  /** A port that the part had in an earlier run of the stack. */
  readPort(part: string): number | undefined {
    const text = existsSync(this.portFile(part)) ? readFileSync(this.portFile(part), 'utf8').trim() : ''
    return /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= 65535 ? Number(text) : undefined
  }

  /** Keeps the port for later runs, so that bookmarks and saved links stay valid. */
  keepPort(part: string, port: number): void {
    writeFileSync(this.portFile(part), `${port}\n`, { mode: 0o600 })
  }

  /** Keeps logs below their limit. The writers append, so a log can be truncated while they run. */
  trimLogs(parts: Iterable<string>): void {
    for (const part of parts) {
      const file = this.logFile(part)
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= logLimitBytes) continue
      copyFileSync(file, `${file}.1`)
      truncateSync(file)
    }
  }

  /** Records the process of a part. */
  noteProcess(name: string, pid: number): void {
    const start = startOf(pid)
    if (start === null) return
    this.stack.processes[name] = { pid, start }
    this.save()
  }

  /** Records the addresses of the running stack. */
  noteAddresses(addresses: Omit<StackFile, 'processes'>): void {
    Object.assign(this.stack, addresses)
    this.save()
  }

  /** Releases the folder. Call it when no process of the stack runs any more. */
  release(): void {
    this.stack = { processes: {} }
    this.save()
    this.lock.release()
  }

  private portFile(part: string): string {
    return join(this.path, `${part}-port`)
  }

  private save(): void {
    const file = stackFile(this.path)
    writeFileSync(`${file}.new`, `${JSON.stringify(this.stack, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
}

// Each start begins new logs; those of the previous run are kept as <name>.log.1.
function keepEarlierLogs(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.log')) renameSync(join(folder, name), join(folder, `${name}.1`))
  }
}

/** Creates a folder that others cannot read. An existing one is closed to them, unless another user owns it. */
function makePrivate(folder: string, mode = 0o700): void {
  mkdirSync(folder, { recursive: true, mode })
  if (statSync(folder).uid === process.getuid?.()) chmodSync(folder, mode)
}

const stackFile = (folder: string) => join(folder, 'stack.json')

/** Reads the data folder's stack.json; null if there is none. */
export function readStackFile(folder: string): StackFile | null {
  try {
    return JSON.parse(readFileSync(stackFile(folder), 'utf8'))
  } catch {
    return null
  }
}

/** 256 random bits, safe in a URL and on a command line. */
export const newSecret = () => randomBytes(32).toString('base64url')

/** Waits until the watchdog has stopped the recorded processes, and kills those that remain after the limit. */
export async function stopProcesses(processes: Record<string, ProcessIdentity>): Promise<void> {
  const left = () => Object.values(processes).filter(isRunning)
  const deadline = Date.now() + leftoverLimitMs
  while (left().length > 0 && Date.now() < deadline) await delay(50)
  for (const { pid } of left()) process.kill(-pid, 'SIGKILL')
  while (left().length > 0) await delay(20)
}
