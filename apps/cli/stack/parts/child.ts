// One child process of the stack: its own process group, its output in a log file, and a time limit for stopping.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Watchdog } from '../watchdog.js'

/** The pause between two health probes of a starting part. */
const probeIntervalMs = 50
/** A part that does not respond within this time after its start has failed; slow machines need most of it. */
const startLimitMs = 60_000
const probeLimitMs = 3000

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** What the supervisor gives to the function that starts a part. */
export interface StackContext {
  /** The log file of a part. */
  logFile(part: string): string
  watchdog: Watchdog
  /** Aborted when the stack stops, which cancels starts in progress. */
  signal: AbortSignal
}

export interface ChildOptions {
  name: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  cwd: string
  user?: { uid: number; gid: number }
  /** Written to standard input, which is then closed. */
  input?: string
  /** Of the files that it creates; the default lets only their owner read them. */
  umask?: number
  /** The signal for an orderly stop, and the time limit before SIGKILL. */
  stopSignal: NodeJS.Signals
  stopLimitMs: number
}

export interface Child {
  readonly name: string
  readonly pid: number
  readonly log: string
  /** How it exited; null while it runs. */
  readonly exit: Exit | null
  /** Resolves when the process has exited. Never rejects. */
  readonly exited: Promise<Exit>
  /** Requests an orderly stop, kills the process after the limit, and resolves when it has exited. */
  stop(): Promise<void>
  /** Kills the process and its group. */
  kill(): void
}

/** Spawns a child. Rejects if the command cannot be run. */
export async function spawnChild(context: StackContext, options: ChildOptions): Promise<Child> {
  context.signal.throwIfAborted()
  const { name, stopSignal } = options
  const log = context.logFile(name)
  const out = openSync(log, 'a', 0o600)
  const umask = process.umask(options.umask ?? 0o077)
  // Detached, so that Ctrl-C on the terminal reaches only the supervisor, which stops the parts in order.
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env,
    ...options.user,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', out, out],
    detached: true
  })
  process.umask(umask)
  closeSync(out)
  const { pid } = child
  if (pid === undefined) {
    const error = await new Promise<Error>((resolve) => child.once('error', resolve))
    throw new Error(`${name} cannot be started: ${error.message}`)
  }
  context.watchdog.add(pid, stopSignal)
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input)

  let exit: Exit | null = null
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal }
      signalGroup(pid, 'SIGKILL')
      context.watchdog.remove(pid)
      resolve(exit)
    })
  })
  return {
    name,
    pid,
    log,
    exited,
    get exit() {
      return exit
    },
    async stop() {
      if (exit) return
      child.kill(stopSignal)
      const force = setTimeout(() => signalGroup(pid, 'SIGKILL'), options.stopLimitMs)
      await exited
      clearTimeout(force)
    },
    kill() {
      if (!exit) signalGroup(pid, 'SIGKILL')
    }
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has already exited.
  }
}

/**
 * Waits until `probe` resolves. If the child exits first or the time is over, kills it and rejects with the last lines of
 * its log.
 */
export async function untilHealthy(
  child: Child,
  probe: (signal: AbortSignal) => Promise<unknown>,
  context: StackContext
): Promise<void> {
  const deadline = Date.now() + startLimitMs
  let last = 'no response'
  while (Date.now() < deadline && !child.exit) {
    if (context.signal.aborted) {
      await child.stop()
      context.signal.throwIfAborted()
    }
    try {
      await probe(AbortSignal.timeout(probeLimitMs))
      if (!child.exit) return
    } catch (error) {
      last = (error as Error).message
    }
    await Promise.race([child.exited, delay(probeIntervalMs)])
  }
  const how = child.exit
    ? `stopped while starting (${describeExit(child.exit)})`
    : `does not respond after ${startLimitMs / 1000} s (${last})`
  child.kill()
  await child.exited
  throw new Error(`${child.name} ${how}. The last lines of ${child.log}:\n${logTail(child.log)}`)
}

export const describeExit = ({ code, signal }: Exit) => (signal ? `signal ${signal}` : `exit code ${code}`)

/** The last lines of a log, indented; a note if it is empty or missing. */
export function logTail(file: string, lines = 15): string {
  try {
    const text = readFileSync(file, 'utf8').trimEnd()
    if (!text) return '    (nothing was written)'
    return text
      .split('\n')
      .slice(-lines)
      .map((line) => `    ${line.slice(0, 500)}`)
      .join('\n')
  } catch {
    return '    (no such file)'
  }
}
