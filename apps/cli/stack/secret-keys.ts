// The key ring of a stack: DATA_DIR/keys/secrets, in the form of SECRETS_KEYS. Without it no stored credential can be read
// again, so it is made once, never replaced, and complete on the disk before anything is sealed with it.
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const secretKeysFile = (dataDir: string): string => join(dataDir, 'keys', 'secrets')

/** The text of the file; `null` when there is none. */
export function readSecretKeys(dataDir: string): string | null {
  try {
    return readFileSync(secretKeysFile(dataDir), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The text of the file, which is made with a new key when there is none, for its owner only. */
export function ensureSecretKeys(dataDir: string): string {
  const file = secretKeysFile(dataDir)
  const text = readSecretKeys(dataDir)
  if (text !== null) {
    if (!text.trim())
      throw new Error(`${file} is empty: put the keys back, or remove it if no credentials were stored with them.`)
    // Somebody may have edited or copied it with the permissions that new files have.
    if (statSync(file).mode & 0o077) chmodSync(file, 0o600)
    return text
  }
  // An id of its own, not "k1" each time: after a loss of the file nobody takes the new key for the old one.
  const made = `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`
  // Whoever starts a stack holds the data folder: nobody else makes the file meanwhile.
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
