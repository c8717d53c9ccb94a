// One child process of the stack: its own process group, its output in a log file, a bounded end.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Watchdog } from '../watchdog.js'

/** How often a part that starts is asked whether it answers yet. */
const probeIntervalMs = 50
/** A part that does not answer for this long after its start has failed; slow machines need most of it. */
const startLimitMs = 60_000
const probeLimitMs = 3000

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** What every starter needs from whoever starts the stack. */
export interface StackContext {
  /** The log file of a part. */
  logFile(part: string): string
  watchdog: Watchdog
  /** Aborted when the stack ends: starts that are under way give up. */
  signal: AbortSignal
}

export interface ChildOptions {
  name: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  cwd: string
  user?: { uid: number; gid: number }
  /** Written to the standard input, which is closed then. */
  input?: string
  /** The signal that asks for an orderly end, and how long that may take before SIGKILL. */
  stopSignal: NodeJS.Signals
  stopLimitMs: number
}

export interface Child {
  readonly name: string
  readonly pid: number
  readonly log: string
  /** How it ended; null while it runs. */
  readonly exit: Exit | null
  /** Settles when the process has ended, for whatever reason. Never rejects. */
  readonly exited: Promise<Exit>
  /** Asks for an orderly end, forces it after the limit, settles when the process is gone. */
  stop(): Promise<void>
  /** Ends the process and its group at once. */
  kill(): void
}

/** Spawns a child. Rejects when the command cannot be run at all. */
export async function spawnChild(context: StackContext, options: ChildOptions): Promise<Child> {
  context.signal.throwIfAborted()
  const { name, stopSignal } = options
  const log = context.logFile(name)
  const out = openSync(log, 'a')
  // Detached: Ctrl-C on the terminal reaches the supervisor alone, which ends the parts in order.
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env,
    ...options.user,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', out, out],
    detached: true
  })
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
    // The group is gone, which is what was wanted.
  }
}

/**
 * Waits until `probe` resolves. Rejects, with the end of the part's log in the message, when the child ends before or
 * the time is over; the child is gone then.
 */
export async function untilHealthy(
  child: Child,
  probe: (signal: AbortSignal) => Promise<unknown>,
  context: StackContext
): Promise<void> {
  const deadline = Date.now() + startLimitMs
  let last = 'no answer'
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
    ? `ended while starting (${describeExit(child.exit)})`
    : `does not answer after ${startLimitMs / 1000} s (${last})`
  child.kill()
  await child.exited
  throw new Error(`${child.name} ${how}. The end of ${child.log}:\n${logTail(child.log)}`)
}

export const describeExit = ({ code, signal }: Exit) => (signal ? `signal ${signal}` : `exit code ${code}`)

/** The last lines of a log, indented; a note when it is empty or missing. */
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
