// The key ring in a backup and the one at hand: which of them opens the stored credentials, and whether a key proves that
// the backup was made by this installation.
import type { BackupHead, BackupSeal } from '../../../domain/operations/backup.js'
import { type KeyRing, readKeyRing, UnopenableError } from '../../../services/keys/key-ring.js'
import { dataFolder } from '../stack/project.js'
import { readSecretKeys, secretKeysFile } from '../stack/secret-keys.js'
import { CliError } from '../terminal/cli-error.js'
import type { ReadBackup } from './archive-reader.js'

export interface OwnKeys {
  text: string
  ring: KeyRing
  /** Where they are, in words. */
  from: string
}

/** The keys of SECRETS_KEYS, or else of the data folder; `null` if there are none. @throws CliError if they are malformed. */
export function ownKeys(): OwnKeys | null {
  const given = process.env.SECRETS_KEYS?.trim()
  const text = given || readSecretKeys(dataFolder())
  if (!text?.trim()) return null
  return { text, ring: ringOf(text), from: given ? 'SECRETS_KEYS' : secretKeysFile(dataFolder()) }
}

export function ringOf(text: string): KeyRing {
  try {
    return readKeyRing(text)
  } catch (error) {
    throw new CliError('usage', (error as Error).message)
  }
}

const sealContext = (head: Pick<BackupHead, 'id'>) => ['backup', head.id]

export function sealOf(ring: KeyRing, head: Pick<BackupHead, 'id'>, manifestSha256: string): BackupSeal {
  const { ringKeyId, wrappedKey, sealedValue } = ring.seal(manifestSha256, sealContext(head))
  return {
    ring_key_id: ringKeyId,
    wrapped_key: wrappedKey.toString('base64'),
    sealed_value: sealedValue.toString('base64')
  }
}

/**
 * Whether a key at hand sealed the backup. With the keys of the backup itself alone, nothing is proven.
 * @throws CliError if it was sealed with a key at hand, and changed since.
 */
export function isProven(ring: KeyRing | null, { manifest, seal, manifestSha256 }: ReadBackup): boolean {
  if (!ring || !seal || !ring.keyIds.includes(seal.ring_key_id)) return false
  const sealed = {
    ringKeyId: seal.ring_key_id,
    wrappedKey: Buffer.from(seal.wrapped_key, 'base64'),
    sealedValue: Buffer.from(seal.sealed_value, 'base64')
  }
  try {
    if (ring.open(sealed, sealContext(manifest)) === manifestSha256) return true
  } catch (error) {
    if (!(error instanceof UnopenableError)) throw error
  }
  throw new CliError('refused', `the backup was changed: the key ${seal.ring_key_id} did not seal this manifest`)
}

/** @throws CliError if credentials of the backup could not be opened with the keys at hand. */
export function refuseMissingKeys(head: BackupHead, own: OwnKeys | null): void {
  const missing = head.key_ids.filter((id) => !own?.ring.keyIds.includes(id))
  if (missing.length === 0) return
  const where = head.includes_keys
    ? 'The backup has them: tar -xzOf FILE keys/secrets shows its keys'
    : 'The backup was made without keys: find them where they are kept'
  throw new CliError(
    'refused',
    own
      ? `${own.from} does not have the keys that encrypt credentials of the backup (${missing.join(', ')}). ${where}; add them after your own. With --without-keys those credentials stay closed`
      : `no keys: set SECRETS_KEYS to the keys of the backed-up installation (${missing.join(', ')}). With --without-keys the stored credentials stay closed`
  )
}
