// The Ed25519 key with which this installation signs seals and checkpoints of the audit trail. Its private half is in the
// database, sealed with the key ring like a provider's credential. It is created when it is first needed.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type AdminActor, recordAdminAction } from '../../db/audit/admin-audit.js'
import {
  currentSigningKeyId,
  findSigningKey,
  lockSigningKeys,
  putSigningKey,
  type SigningKeyRow
} from '../../db/audit/signing-keys.js'
import type { Db } from '../../db/client.js'
import { ServiceError } from '../../domain/errors.js'
import { type KeyRing, type SealContext, UnopenableError } from './key-ring.js'

export interface Signer {
  /** First 16 hex digits of the SHA-256 of the public key (SubjectPublicKeyInfo, DER). */
  keyId: string
  publicKeyPem: string
  /** Ed25519, 64 bytes. */
  sign(bytes: Buffer): Buffer
}

/** Returns the current signer, which changes when the key is rotated. @throws ServiceError without a key ring. */
export type InstallationSigner = () => Promise<Signer>

export const signingKeyContext = (row: { keyId: string }): SealContext => ['signing_key', row.keyId]

/** Opened keys stay in memory; the current one is read each time, so that a rotation applies everywhere at once. */
export function createInstallationSigner(db: Db, keyRing: KeyRing | null): InstallationSigner {
  const opened = new Map<string, Signer>()
  return async () => {
    if (!keyRing)
      throw new ServiceError(
        'not_available',
        "nothing can be signed here: this service has no key to keep a signing key with; its operator sets SECRETS_KEYS, or starts it with 'npm start', which makes one"
      )
    const keyId = (await currentSigningKeyId(db)) ?? (await firstKey(db, keyRing))
    const known = opened.get(keyId)
    if (known) return known
    const row = await findSigningKey(db, keyId)
    if (!row) throw new Error(`the signing key ${keyId} is gone`)
    const signer = signerOf(createPrivateKey(privateHalf(row, keyRing)))
    if (signer.keyId !== keyId) throw new Error(`the signing key ${keyId} holds the private half of ${signer.keyId}`)
    opened.set(keyId, signer)
    return signer
  }
}

function privateHalf(row: SigningKeyRow, keyRing: KeyRing): string {
  try {
    return keyRing.open({ ...row, sealedValue: row.sealedKey }, signingKeyContext(row))
  } catch (cause) {
    if (!(cause instanceof UnopenableError)) throw cause
    const message = `nothing can be signed here: the signing key ${row.keyId} cannot be opened; its operator puts the key ${row.ringKeyId} back into SECRETS_KEYS, or makes another one with qjob admin rotate-signing-key`
    throw new ServiceError('not_available', message, {}, { cause })
  }
}

/** Creates a new key that signs from now on; signatures of the old keys stay valid. @returns its id. */
export async function rotateSigningKey(
  db: Db,
  keyRing: KeyRing,
  actor: AdminActor
): Promise<{ keyId: string; retired: string | null }> {
  return db.transaction(async (tx) => {
    await lockSigningKeys(tx)
    const retired = await currentSigningKeyId(tx)
    const key = newKey(keyRing)
    await putSigningKey(tx, key)
    await recordAdminAction(tx, actor, 'signing_key.rotate', key.keyId, { retired })
    return { keyId: key.keyId, retired }
  })
}

async function firstKey(db: Db, keyRing: KeyRing): Promise<string> {
  return db.transaction(async (tx) => {
    await lockSigningKeys(tx)
    // Another process may have been first.
    const existing = await currentSigningKeyId(tx)
    if (existing) return existing
    const key = newKey(keyRing)
    await putSigningKey(tx, key)
    return key.keyId
  })
}

function newKey(keyRing: KeyRing) {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { keyId, publicKeyPem } = signerOf(privateKey)
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
  const { ringKeyId, wrappedKey, sealedValue } = keyRing.seal(pem, signingKeyContext({ keyId }))
  return { keyId, publicKeyPem, ringKeyId, wrappedKey, sealedKey: sealedValue }
}

function signerOf(privateKey: KeyObject): Signer {
  const publicKey = createPublicKey(privateKey)
  return {
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }) as string,
    sign: (bytes) => sign(null, bytes, privateKey)
  }
}

/** The id that follows from a public key. */
export const keyIdOf = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
    .slice(0, 16)
