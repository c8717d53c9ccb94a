// One holder at a time for a folder or a task, by a file that names the holder.
//
// A process is identified by its id AND its start time, so that a reused process id is never mistaken for a holder
// that died. The file is made complete under another name and then hard-linked into place: link() is the one step that
// fails when another process was first, and no process ever sees a half-written file.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** When the process started, as an opaque text that is equal only for the same process; null when it does not run. */
export function startOf(pid) {
  try {
    if (process.platform === 'linux') {
      // Field 22, counted after the command name, which may itself hold blanks and parentheses.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').pop().trim().split(' ')
      return fields[0] === 'Z' ? null : fields[19]
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null
  } catch {
    return null
  }
}

/** Whether the process that was recorded as { pid, start } is still the one that runs. */
export const isRunning = ({ pid, start }) => startOf(pid) === start

/** The holder written in a lock file, or null when there is none or it cannot be read as one. */
export function readHolder(file) {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8'))
    return Number.isInteger(holder.pid) && typeof holder.start === 'string' ? holder : null
  } catch {
    return null
  }
}

/**
 * Takes the lock at once or returns its holder: { release() } or { heldBy: { pid, start, since, purpose } }.
 * A lock whose holder is dead is taken over.
 */
export function takeLock(file, purpose) {
  mkdirSync(dirname(file), { recursive: true })
  const mine = { pid: process.pid, start: startOf(process.pid), since: new Date().toISOString(), purpose }
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 })
  try {
    // Each turn either takes the lock, meets a live holder, or removes one dead holder's file.
    for (let turn = 0; turn < 50; turn++) {
      if (linkIfFree(draft, file)) return { release: () => release(file, mine) }
      const holder = readHolder(file)
      if (holder && isRunning(holder)) return { heldBy: holder }
      removeStale(file, holder)
    }
    throw new Error(`${file} keeps changing hands: try again`)
  } finally {
    rmSync(draft, { force: true })
  }
}

function linkIfFree(from, to) {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

// Another process may remove the same dead holder's file and take the lock between our check and our rename: what was
// moved away is looked at again, and a live holder's file goes back to its place.
function removeStale(file, seen) {
  const aside = `${file}.stale.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(file, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  const moved = readHolder(aside)
  if (moved && isRunning(moved) && moved.pid !== seen?.pid) linkIfFree(aside, file)
  rmSync(aside, { force: true })
}

function release(file, mine) {
  const holder = readHolder(file)
  if (holder?.pid === mine.pid && holder.start === mine.start) rmSync(file, { force: true })
}
