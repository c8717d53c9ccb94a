// Seals secrets for the database. Each value has a random key of its own (AES-256-GCM), and a key of the ring wraps that key
// (the same cipher). Both layers are bound to a context that names the row of the value: a value that was moved to another
// row, team or name cannot be opened there. A change of the ring's first key re-wraps the small keys and leaves the values.
//
// Sealing does not hide the length of a value, and write access to the database is enough to restore an earlier value of the
// same row.
//
// Hand-made: key management services and their libraries bind an installation to a vendor or a server, while node:crypto has
// all that an envelope of two layers needs.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
/** Joins the context, so that another layout can never be taken for this one. */
const LAYOUT = 'v1'
const ringKeyIdShape = /^[A-Za-z0-9_-]{1,32}$/

/** A sealed value as stored in the database: both buffers are IV, ciphertext, tag. */
export interface Sealed {
  ringKeyId: string
  wrappedKey: Buffer
  sealedValue: Buffer
}

/** The part that a change of the ring's key rewrites. */
export type WrappedKey = Pick<Sealed, 'ringKeyId' | 'wrappedKey'>

/** What a sealed value is bound to; the parts stay distinct whatever they contain. */
export type SealContext = readonly string[]

export interface KeyRing {
  /** The key that seals. */
  readonly currentKeyId: string
  readonly keyIds: readonly string[]
  seal(plaintext: string, context: SealContext): Sealed
  /** @throws UnopenableError for every failure. */
  open(sealed: Sealed, context: SealContext): string
  /** Wraps the value's key with the ring's current key; the value itself is not opened. @throws UnopenableError. */
  rewrap(wrapped: WrappedKey, context: SealContext): WrappedKey
}

/** The message names the key, and nothing of the sealed value. */
export class UnopenableError extends Error {
  override readonly name = 'UnopenableError'
}

export const secretContext = (row: { teamId: string; provider: string; keyName: string; id: string }): SealContext => [
  row.teamId,
  row.provider,
  row.keyName,
  row.id
]

export const webhookContext = (row: { teamId: string; id: string }): SealContext => ['webhook', row.teamId, row.id]

export const mailContext = (row: { id: string }): SealContext => ['mail', row.id]

/**
 * The ring that SECRETS_KEYS holds; `null` without one, which production does not allow.
 * @throws Error naming what is wrong, without showing a key.
 */
export function configuredKeyRing(env: NodeJS.ProcessEnv): KeyRing | null {
  const text = env.SECRETS_KEYS?.trim()
  if (text) return readKeyRing(text)
  if (env.NODE_ENV !== 'production') return null
  throw new Error(
    'SECRETS_KEYS is not set: credentials of providers cannot be kept without it. Make it with: echo "k1:$(openssl rand -base64 32)"'
  )
}

/**
 * Reads `kid:base64key[,kid:base64key...]`; the first key seals, all of them open. Entries can also be on lines of their own.
 * @throws Error naming the entry that is wrong, without showing a key.
 */
export function readKeyRing(text: string): KeyRing {
  const keys = new Map<string, KeyObject>()
  for (const [at, entry] of text
    .trim()
    .split(/[\s,]+/)
    .entries()) {
    const { keyId, key } = readEntry(entry, at + 1)
    if (keys.has(keyId)) throw new Error(`SECRETS_KEYS: two keys are called ${keyId}`)
    for (const [otherId, other] of keys)
      if (other.equals(key)) throw new Error(`SECRETS_KEYS: ${otherId} and ${keyId} are the same key`)
    keys.set(keyId, key)
  }
  return ringOf(keys)
}

function readEntry(entry: string, position: number): { keyId: string; key: KeyObject } {
  const colon = entry.indexOf(':')
  // The text before the colon is shown only when it has the form of an id: the entry may be a key alone.
  if (colon < 0)
    throw new Error(`SECRETS_KEYS: entry ${position} must be an id, a colon and a key, such as k1:<44 characters>`)
  const keyId = entry.slice(0, colon)
  if (!ringKeyIdShape.test(keyId))
    throw new Error(
      `SECRETS_KEYS: the id of entry ${position} must have 1 to 32 letters, digits, hyphens or underscores`
    )
  const bytes = Buffer.from(entry.slice(colon + 1), 'base64')
  // Node ignores characters outside base64; encoding the bytes again reveals them.
  const canonical = bytes.toString('base64').replace(/=+$/, '')
  const given = entry
    .slice(colon + 1)
    .replace(/=+$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
  if (bytes.length !== KEY_BYTES || canonical !== given)
    throw new Error(
      `SECRETS_KEYS: the key ${keyId} must be ${KEY_BYTES} random bytes in base64; make one with: openssl rand -base64 ${KEY_BYTES}`
    )
  if (bytes.every((byte) => byte === bytes[0]))
    throw new Error(`SECRETS_KEYS: the key ${keyId} is one byte repeated; make one with: openssl rand -base64 32`)
  return { keyId, key: createSecretKey(bytes) }
}

/** Keys stay in the closure: a ring that is logged shows only their ids. */
function ringOf(keys: ReadonlyMap<string, KeyObject>): KeyRing {
  const keyIds = [...keys.keys()]
  const currentKeyId = keyIds[0]!
  const wrap = (dataKey: Buffer, aad: Buffer): WrappedKey => ({
    ringKeyId: currentKeyId,
    wrappedKey: encrypt(keys.get(currentKeyId)!, dataKey, aad)
  })
  const unwrap = ({ ringKeyId, wrappedKey }: WrappedKey, aad: Buffer): Buffer => {
    const key = keys.get(ringKeyId)
    if (!key) throw new UnopenableError(`it is sealed with the key ${ringKeyId}, which SECRETS_KEYS does not hold`)
    const dataKey = decrypt(key, wrappedKey, aad)
    if (dataKey?.length !== KEY_BYTES) throw changed(ringKeyId)
    return dataKey
  }
  return {
    currentKeyId,
    keyIds,
    seal(plaintext, context) {
      const aad = bound(context)
      const dataKey = randomBytes(KEY_BYTES)
      return { ...wrap(dataKey, aad), sealedValue: encrypt(createSecretKey(dataKey), Buffer.from(plaintext), aad) }
    },
    open(sealed, context) {
      const aad = bound(context)
      const plaintext = decrypt(createSecretKey(unwrap(sealed, aad)), sealed.sealedValue, aad)
      if (!plaintext) throw changed(sealed.ringKeyId)
      return plaintext.toString()
    },
    rewrap(wrapped, context) {
      const aad = bound(context)
      return wrap(unwrap(wrapped, aad), aad)
    }
  }
}

const changed = (ringKeyId: string) =>
  new UnopenableError(
    `it does not open with the key ${ringKeyId}: it was changed, belongs to another row, or the key is another one of that name`
  )

/** Each part follows its length, so that two contexts never have the same bytes. */
const bound = (context: SealContext): Buffer =>
  Buffer.concat(
    [LAYOUT, ...context].flatMap((part) => {
      const bytes = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    })
  )

function encrypt(key: KeyObject, plaintext: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(aad)
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

/** `null` when the bytes were changed or belong to another key or context. */
function decrypt(key: KeyObject, sealed: Buffer, aad: Buffer): Buffer | null {
  if (sealed.length < IV_BYTES + TAG_BYTES) return null
  const iv = sealed.subarray(0, IV_BYTES)
  // Without a fixed length, the cipher would accept a tag that was cut to four bytes.
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(aad)
    .setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return null
  }
}
