// The data folder of a stack: its lock, its running processes, its secrets and its logs.
//
// Only its owner can read what is in the folder: logs and Temporal's histories name teams and jobs.
//
// stack.json names every process of the running stack. `qjob` finds the stack by it, and the next start stops what a killed
// one left behind. It is complete at every moment (written to a draft, then renamed), and only its owner can read it.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Holder,
  isRunning,
  type ProcessIdentity,
  readHolder,
  startOf,
  takeLock
} from '../../../tools/process-lock.mjs'

/** A log above this size is moved to <name>.log.1, whose content is lost. */
const logLimitBytes = 20 * 1024 * 1024
/** The time that the watchdog of a killed stack needs to stop its children, with a margin. */
const leftoverLimitMs = 10_000

export interface StackFile {
  /** Set when the stack is ready. */
  url?: string
  /** The PUBLIC_URL with which the stack was started. */
  public_url?: string
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

  /** @throws Error naming the process that holds the folder, if one does. */
  static assertFree(folder: string): void {
    const holder = readHolder(join(folder, 'holder.json'))
    if (holder && isRunning(holder)) throw new Error(inUse(folder, holder))
  }

  /** Locks the folder for this process and stops what a killed holder left. @throws Error naming the present holder. */
  static async hold(folder: string, purpose: string): Promise<DataDir> {
    // Postgres runs as another user than root, and passes through the folder on the way to its own.
    makePrivate(folder, process.getuid?.() === 0 ? 0o711 : 0o700)
    for (const name of ['logs', 'keys']) makePrivate(join(folder, name))
    const path = realpathSync(folder)
    const lock = takeLock(join(path, 'holder.json'), purpose)
    if ('heldBy' in lock) throw new Error(inUse(path, lock.heldBy))
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

  /** Moves every log above the limit to <name>.log.1. Its writers append, so it can be emptied while they run. */
  rotateLogs(limitBytes = logLimitBytes): void {
    const folder = join(this.path, 'logs')
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      if (!name.endsWith('.log') || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= limitBytes) continue
      moveContent(file, `${file}.1`)
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
    try {
      this.save()
    } catch {
      // A full disk takes no new file.
      rmSync(stackFile(this.path), { force: true })
    }
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

/** Empties the file also where the disk has no room for its content, which is then lost. */
function moveContent(from: string, to: string): void {
  const source = openSync(from, 'r')
  try {
    rmSync(to, { force: true })
    const target = openSync(to, 'w', 0o600)
    try {
      const chunk = Buffer.alloc(1024 * 1024)
      // To the very end, so that hardly a line is written between the last read and the truncation.
      for (let size = readSync(source, chunk); size > 0; size = readSync(source, chunk)) writeAll(target, chunk, size)
    } finally {
      closeSync(target)
    }
  } catch {
    rmSync(to, { force: true })
  } finally {
    closeSync(source)
  }
  truncateSync(from)
}

function writeAll(file: number, chunk: Buffer, size: number): void {
  for (let written = 0; written < size; ) written += writeSync(file, chunk, written, size - written)
}

// Each start begins new logs; those of the previous run are kept as <name>.log.1.
function keepEarlierLogs(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.log')) renameSync(join(folder, name), join(folder, `${name}.1`))
  }
}

/** Says what runs from the folder. */
function inUse(path: string, { purpose, pid, since }: Holder): string {
  const url = readStackFile(path)?.url
  const holder = `"${purpose}", process ${pid}, since ${since}`
  return url
    ? `The service of this folder (${path}) already runs at ${url} (${holder}). Use it, or stop that process first.`
    : `The data folder ${path} is in use (${holder}). Stop that process, or choose another folder with DATA_DIR.`
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
