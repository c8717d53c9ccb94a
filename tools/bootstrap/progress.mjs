// What a person sees while the parts are fetched: one line when a step begins, a sign of life while it lasts, one line
// when it ends. Everything goes to stderr, so that a command's own output stays clean.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { isRunning, readHolder, startOf } from '../process-lock.mjs'

const signOfLifeMs = 10_000
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP']

export const say = (text) => process.stderr.write(`${text}\n`)

export function elapsed(since) {
  const seconds = (Date.now() - since) / 1000
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`
}

/** Runs one named step and reports begin, life and end with the elapsed time; the step's error passes through. */
export async function step(label, work) {
  const began = Date.now()
  say(`  ... ${label}`)
  const life = setInterval(() => say(`  ... ${label}: ${elapsed(began)} so far`), signOfLifeMs)
  try {
    const value = await work()
    say(`  ok  ${label} (${elapsed(began)})`)
    return value
  } finally {
    clearInterval(life)
  }
}

/**
 * Runs a command with its output in a log file. Rejects with the end of that output when it fails or exceeds the limit.
 * The command gets a process group of its own, which ends with this process: by the signal that ends it, or, after a
 * SIGKILL, by the next bootstrap (`endLeftovers`), since two `npm ci` in one folder would spoil each other's work.
 */
export function run(command, args, { cwd, env, log, limitMs }) {
  mkdirSync(dirname(log), { recursive: true })
  const out = openSync(log, 'w')
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', out, out],
      detached: true
    })
    closeSync(out)
    child.on('error', (error) => reject(new Error(`${command} could not be started: ${error.message}`)))
    if (child.pid === undefined) return
    const mark = `${log}.pid`
    writeFileSync(mark, JSON.stringify({ pid: child.pid, start: startOf(child.pid) }))
    const end = () => endGroup(child.pid)
    const endWithSignal = (signal) => {
      end()
      process.exit(128 + constants.signals[signal])
    }
    for (const signal of endings) process.on(signal, endWithSignal)
    const timer = setTimeout(end, limitMs)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      for (const ending of endings) process.off(ending, endWithSignal)
      rmSync(mark, { force: true })
      if (code === 0) return resolve()
      const why = signal === 'SIGKILL' ? `was stopped after ${limitMs / 1000} s` : `ended with ${signal ?? code}`
      reject(new Error(`${command} ${args.slice(0, 3).join(' ')} ${why}\n${lastLines(log, 15)}\n(all of it: ${log})`))
    })
  })
}

/** Ends the commands that an earlier, killed bootstrap left running. */
export function endLeftovers(logs) {
  if (!existsSync(logs)) return
  for (const name of readdirSync(logs)) {
    if (!name.endsWith('.pid')) continue
    const command = readHolder(join(logs, name))
    if (command && isRunning(command)) endGroup(command.pid)
    rmSync(join(logs, name), { force: true })
  }
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** The end of a text file, for an error message; empty when there is none. */
export function lastLines(file, count) {
  try {
    return readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-count)
      .map((line) => `    ${line}`)
      .join('\n')
  } catch {
    return ''
  }
}
