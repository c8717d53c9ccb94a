// The session of a signed-in user, one file per service, readable for its owner only.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface SavedSession {
  url: string
  email: string
  /** `name=value`, as it is sent back. */
  cookie: string
  signed_in_at: string
}

export function readSession(url: string): SavedSession | null {
  try {
    const saved = JSON.parse(readFileSync(sessionFile(url), 'utf8')) as SavedSession
    return saved.url === url && typeof saved.cookie === 'string' ? saved : null
  } catch {
    // No file, or one that a person has edited: signing in again makes a new one.
    return null
  }
}

export function saveSession(session: SavedSession): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  const file = sessionFile(session.url)
  // Written aside and renamed: complete at every moment, and never readable for others, not even while it is written.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
}

export function forgetSession(url: string): void {
  rmSync(sessionFile(url), { force: true })
}

const folder = (): string => join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'qjob', 'sessions')

/** The host for whoever looks, a digest of the whole address to tell services apart. */
const sessionFile = (url: string): string =>
  join(folder(), `${new URL(url).hostname.replace(/[^\w.-]/g, '_')}-${digest(url)}.json`)

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)
