// The key ring of a stack: DATA_DIR/keys/secrets, in the form of SECRETS_KEYS. Without it no stored credential can be
// decrypted, so it is created once, never replaced, and complete on disk before anything is encrypted with it.
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const secretKeysFile = (dataDir: string): string => join(dataDir, 'keys', 'secrets')

/** The text of the file; `null` if there is none. */
export function readSecretKeys(dataDir: string): string | null {
  try {
    return readFileSync(secretKeysFile(dataDir), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The text of the file. If there is none, creates one with a new key that only its owner can read. */
export function ensureSecretKeys(dataDir: string): string {
  const file = secretKeysFile(dataDir)
  const text = readSecretKeys(dataDir)
  if (text !== null) {
    if (!text.trim())
      throw new Error(`${file} is empty: restore the keys, or remove the file if no credentials were stored with them.`)
    // An editor or a copy may have given it the default permissions.
    if (statSync(file).mode & 0o077) chmodSync(file, 0o600)
    return text
  }
  // The id is random, not always "k1", so that a new key is never mistaken for a lost one.
  const made = `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`
  // The starting stack holds the data folder, so no other process creates the file at the same time.
  const draft = `${file}.new`
  const descriptor = openSync(draft, 'w', 0o600)
  writeSync(descriptor, made)
  fsyncSync(descriptor)
  closeSync(descriptor)
  renameSync(draft, file)
  const folder = openSync(dirname(file), 'r')
  fsyncSync(folder)
  closeSync(folder)
  return made
}
