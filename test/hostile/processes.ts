// The processes of the stack: which of them died, and how much memory each part uses, from /proc and the executor's log.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunning, type ProcessIdentity, startOf } from '../../tools/process-lock.mjs'
import type { QjobStart } from '../support/stack/qjob-start.js'

export const parts = ['api', 'worker', 'executor', 'postgres', 'redis', 'temporal'] as const
export type Part = (typeof parts)[number]
export type Memory = Record<Part, number>

const EVERY_MS = 250
const MIB = 1024 * 1024

export interface ProcessWatch {
  /** Begins a new measurement of peaks. */
  reset(): void
  /** The peak of each part since the last reset, in MiB. */
  peaks(): Memory
  /** The processes that died since the last call. */
  died(): string[]
  stop(): void
}

/**
 * Memory as a container's limit counts it, without what the kernel can take back: private memory and page tables of all
 * processes of a part, and the shared memory of Postgres once. Memory files of user programs are missing.
 */
export function watchProcesses(stack: QjobStart, dataDir: string): ProcessWatch {
  let peaks = none()
  let deaths = zygoteDeaths(dataDir)
  let known = permanentProcesses(stack)
  const gone: string[] = []
  const look = () => {
    const running = stack.processes()
    for (const part of parts) {
      const pid = running[part]?.pid
      if (pid)
        peaks[part] = Math.max(peaks[part], part === 'executor' || part === 'postgres' ? ofTree(pid) : highest(pid))
    }
    for (const [name, identity] of known) {
      if (isRunning(identity)) continue
      gone.push(`${name} (process ${identity.pid})`)
      known.delete(name)
    }
    // A part that was restarted is watched again.
    if (known.size < parts.length) known = new Map([...permanentProcesses(stack), ...known])
  }
  const timer = setInterval(look, EVERY_MS)
  return {
    reset: () => {
      look()
      peaks = none()
      for (const part of parts) forgetHighest(stack.processes()[part]?.pid)
    },
    peaks: () => {
      look()
      return { ...peaks }
    },
    died: () => {
      look()
      known = permanentProcesses(stack)
      const before = deaths
      deaths = zygoteDeaths(dataDir)
      return [...gone.splice(0), ...Array.from({ length: Math.max(0, deaths - before) }, () => 'a zygote')]
    },
    stop: () => clearInterval(timer)
  }
}

const none = (): Memory => ({ api: 0, worker: 0, executor: 0, postgres: 0, redis: 0, temporal: 0 })

/** Zygotes, with which runs of every tenant die. A zygote that is replaced after many runs has not died. */
const zygoteDeaths = (dataDir: string): number =>
  read(join(dataDir, 'logs', 'executor.log')).split('"a zygote died"').length - 1

/** The parts, and the executor's own process: its shell. */
function permanentProcesses(stack: QjobStart): Map<string, ProcessIdentity> {
  const running = stack.processes()
  const found = new Map<string, ProcessIdentity>()
  for (const part of parts) if (running[part]) found.set(part, running[part])
  const executor = running.executor?.pid
  for (const pid of executor ? childrenOf(executor) : []) {
    const start = startOf(pid)
    const name = /qjs_executor\.(\w+)/.exec(read(`/proc/${pid}/cmdline`))?.[1]
    if (start !== null && name && name !== 'zygote') found.set(`executor's ${name} ${pid}`, { pid, start })
  }
  return found
}

function ofTree(pid: number): number {
  let bytes = 0
  let shared = 0
  const left = [pid]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const status = read(`/proc/${next}/status`)
    bytes += field(status, 'RssAnon') + field(status, 'VmPTE')
    // Only Postgres maps one shared segment in every process; a user's program can map one file a thousand times.
    if (/^Name:\s+postgres/m.test(status)) shared = Math.max(shared, field(status, 'RssShmem'))
    left.push(...childrenOf(next))
  }
  return (bytes + shared) / MIB
}

/** Of a single process the kernel keeps the peak, which a sample can miss. */
function highest(pid: number): number {
  const status = read(`/proc/${pid}/status`)
  return Math.max(0, field(status, 'VmHWM') - field(status, 'RssFile') + field(status, 'VmPTE')) / MIB
}

function forgetHighest(pid: number | undefined): void {
  try {
    if (pid) writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // Another user's process: the peak since its start remains.
  }
}

const field = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
