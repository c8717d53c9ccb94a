// Saves the session of a signed-in user, in one file per service that only its owner can read.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface SavedSession {
  url: string
  email: string
  /** `name=value`, as sent back to the service. */
  cookie: string
  signed_in_at: string
}

export function readSession(url: string): SavedSession | null {
  try {
    const saved = JSON.parse(readFileSync(sessionFile(url), 'utf8')) as SavedSession
    return saved.url === url && typeof saved.cookie === 'string' ? saved : null
  } catch {
    // There is no file, or a person has edited it: signing in again creates a new one.
    return null
  }
}

export function saveSession(session: SavedSession): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  const file = sessionFile(session.url)
  // Written to a draft and renamed, so that it is complete at every moment and never readable for other users.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

export function forgetSession(url: string): void {
  rmSync(sessionFile(url), { force: true })
}

const folder = (): string => join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'qjob', 'sessions')

/** The name has the host for readers, and a digest of the whole address to distinguish services. */
const sessionFile = (url: string): string =>
  join(folder(), `${new URL(url).hostname.replace(/[^\w.-]/g, '_')}-${digest(url)}.json`)

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
