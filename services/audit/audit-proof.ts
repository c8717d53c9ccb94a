// Verifies the audit trail of a team and its sealed capsules: each capsule still has the sealed bytes, and a key of this
// installation signed it.
import { createPublicKey, type KeyObject } from 'node:crypto'
import { type Statement, verifyEnvelope } from '../../capsule-format/attestation.js'
import { parsedChecksums, rootDigest, sha256 } from '../../capsule-format/checksums.js'
import { capsuleDigest, DEFINITION_NAME } from '../../capsule-format/manifest/manifest.js'
import { deletionIsRecorded, type SealedContent, sealedContent } from '../../db/audit/audit-seals.js'
import { listSigningKeys, type SigningKeyRow } from '../../db/audit/signing-keys.js'
import type { Db, DbOrTx } from '../../db/client.js'
import {
  type AuditEvidence,
  type AuditReport,
  NOT_OURS,
  type OnProgress,
  verifyAudit
} from '../../db/proofs/audit-verify.js'
import type { ChainedEntry } from '../../domain/audit/audit-action.js'
import type { Checkpoint } from '../../domain/audit/audit-checkpoint.js'
import { codeOf } from '../../domain/errors.js'
import { type KeyRing, UnopenableError } from '../keys/key-ring.js'
import { keyIdOf, signingKeyContext } from '../keys/signer.js'

export interface ProofMeans {
  /**
   * `null`: a key belongs to this installation when its id matches. With a ring, only keys whose private half the ring opens
   * do; access to the database alone is not enough to forge one.
   */
  keyRing: KeyRing | null
  /** Checkpoints of the team from outside the database. */
  exported?: readonly Checkpoint[]
  onProgress?: OnProgress
}

/** Verifies one team's trail and its seals up to the first fault. */
export const proveAudit = async (db: Db, teamId: string, means: ProofMeans): Promise<AuditReport> =>
  verifyAudit(db, teamId, await auditEvidence(db, means))

export async function auditEvidence(
  db: DbOrTx,
  { keyRing, exported = [], onProgress }: ProofMeans
): Promise<AuditEvidence> {
  const known = await judgedKeys(db, keyRing)
  const { keys, unproven } = known
  return {
    keys,
    unproven,
    exported,
    checkSeal: (tx, entry) => sealFault(tx, entry, known),
    ...(onProgress && { onProgress })
  }
}

/** The faults of key rows: rows that were added or changed in the database, or that the ring cannot open. */
export async function keyFaults(db: DbOrTx, keyRing: KeyRing | null): Promise<{ keyId: string; reason: string }[]> {
  const { rows, unproven } = await judgedKeys(db, keyRing)
  const unretired = rows.filter(({ retiredAt }) => !retiredAt)
  const signs = unretired.pop()
  return [
    ...[...unproven].map(([keyId, reason]) => ({ keyId, reason: `it is ${reason}` })),
    ...unretired.map(({ keyId }) => ({ keyId, reason: `it is not retired, although ${signs!.keyId} signs` }))
  ]
}

/** The public keys of this installation, by id. Rows that were added or changed in the database are left out. */
export async function provenKeys(db: DbOrTx, keyRing: KeyRing | null): Promise<Map<string, KeyObject>> {
  return (await judgedKeys(db, keyRing)).keys
}

export interface JudgedKeys {
  /** The keys of this installation, by id. */
  keys: Map<string, KeyObject>
  /** Their rows, the oldest first. */
  rows: SigningKeyRow[]
  /** What is wrong with each of the others. */
  unproven: Map<string, string>
}

export async function judgedKeys(db: DbOrTx, keyRing: KeyRing | null): Promise<JudgedKeys> {
  const judged: JudgedKeys = { keys: new Map(), rows: [], unproven: new Map() }
  for (const row of await listSigningKeys(db)) {
    const key = provenKey(row, keyRing)
    if (typeof key === 'string') {
      judged.unproven.set(row.keyId, key)
    } else {
      judged.keys.set(row.keyId, key)
      judged.rows.push(row)
    }
  }
  return judged
}

/** The public key of a row, or the reason why it is not a key of this installation. */
function provenKey(row: SigningKeyRow, keyRing: KeyRing | null): KeyObject | string {
  const stated = keyOf(row.publicKeyPem)
  if (!stated || keyIdOf(stated) !== row.keyId) return `${NOT_OURS}: its public half is not that of its id`
  if (!keyRing) return stated
  if (!keyRing.keyIds.includes(row.ringKeyId))
    return `not known to be this installation's: SECRETS_KEYS does not hold ${row.ringKeyId}, with which it is sealed`
  const opened = keyOf(privateHalf(row, keyRing) ?? '')
  return opened?.equals(stated) ? stated : `${NOT_OURS}: no private half of it is here`
}

/** The public key in a PEM text, also that of a private key; `null` when there is none, or one of another kind. */
function keyOf(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === 'ed25519' ? key : null
  } catch {
    return null
  }
}

function privateHalf(row: SigningKeyRow, keyRing: KeyRing): string | null {
  try {
    return keyRing.open({ ...row, sealedValue: row.sealedKey }, signingKeyContext(row))
  } catch (error) {
    if (error instanceof UnopenableError) return null
    throw error
  }
}

async function sealFault(tx: DbOrTx, entry: ChainedEntry, keys: JudgedKeys): Promise<string | null> {
  const { capsuleId, teamId, seq } = entry
  if (capsuleId === null) return 'it records a seal but names no capsule'
  const content = await sealedContent(tx, capsuleId)
  if (!content) {
    if (await deletionIsRecorded(tx, { teamId, capsuleId, seq })) return null
    return `the sealed capsule ${capsuleId} is gone, or its seal, and no entry records its deletion`
  }
  const fault = contentFault(content, JSON.parse(entry.metadata) as Record<string, unknown>, keys)
  return fault && `the sealed capsule ${capsuleId} is not what was sealed: ${fault}`
}

/** Compares each part with the others: entry, row, manifest, checksums, files, signature. */
function contentFault(
  { record, seal, definition, files }: SealedContent,
  recorded: Record<string, unknown>,
  keys: JudgedKeys
): string | null {
  for (const field of ['capsule_digest', 'root_digest', 'key_id'] as const)
    if (recorded[field] !== record[field])
      return `the entry says ${field} ${String(recorded[field])}, the seal ${record[field]}`
  if (recorded.record_sha256 !== record.record_sha256) return 'a field of the capsule or of its seal was changed'
  if (rootDigest(seal.checksums) !== seal.rootDigest) return 'its root digest is not that of its checksums'
  return (
    manifestFault(seal.manifest, seal.capsuleDigest) ??
    filesFault(seal.checksums, definition, files) ??
    envelopeFault(seal, keys)
  )
}

function manifestFault(manifest: string, digest: string): string | null {
  try {
    return capsuleDigest(manifest) === digest ? null : 'its capsule digest is not that of its manifest'
  } catch {
    return 'its manifest is not valid JSON'
  }
}

function filesFault(checksums: string, definition: string, files: SealedContent['files']): string | null {
  const missing = read(() => parsedChecksums(checksums))
  if (typeof missing === 'string') return missing
  for (const file of files) {
    const stated = missing.get(file.name)
    if (stated === undefined) return `it has a file that was not sealed, ${JSON.stringify(file.name)}`
    if (file.actualSha256 !== stated) return `the file ${JSON.stringify(file.name)} was changed`
    if (file.sha256 !== stated || file.sizeBytes !== file.actualBytes)
      return `what is stated of the file ${JSON.stringify(file.name)} was changed`
    missing.delete(file.name)
  }
  // The definition is a file of the format, but is stored in the capsule's own row.
  if (missing.get(DEFINITION_NAME) === sha256(definition)) missing.delete(DEFINITION_NAME)
  const [lost] = missing.keys()
  return lost === undefined ? null : `the file ${JSON.stringify(lost)} is gone or was changed`
}

function envelopeFault(seal: SealedContent['seal'], { keys, unproven }: JudgedKeys): string | null {
  const key = keys.get(seal.keyId)
  if (!key) return `its seal names the key ${seal.keyId}, which is ${unproven.get(seal.keyId) ?? NOT_OURS}`
  const statement = read(() => verifyEnvelope(seal.envelope, key.export({ format: 'pem', type: 'spki' }) as string))
  if (typeof statement === 'string') return statement
  return states(statement, seal) ? null : 'the signed statement is about another seal'
}

function states({ subject, predicate }: Statement, seal: SealedContent['seal']): boolean {
  const signed = new Set(subject.map(({ digest }) => digest.sha256))
  return (
    signed.has(sha256(seal.manifest)) &&
    signed.has(sha256(seal.checksums)) &&
    predicate.capsule_id === seal.capsuleDigest &&
    predicate.root_digest === seal.rootDigest
  )
}

/** The value of a part of the format, or what is wrong with it. */
function read<T>(part: () => T): T | string {
  try {
    return part()
  } catch (error) {
    if (codeOf(error)) return (error as Error).message
    throw error
  }
}
