// The attestation of a seal: an in-toto Statement in a DSSE envelope, signed with Ed25519.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { canonicalJson } from '../domain/json/canonical-json.js'
import { sha256 } from './checksums.js'
import { type Manifest, programReportedTasks } from './manifest/manifest.js'
import { CHECKSUMS_NAME, MANIFEST_NAME, packageFault } from './payload-file.js'

/** The signer (services/keys/signer.ts). `sign` returns an Ed25519 signature of 64 bytes. */
export interface EnvelopeSigner {
  keyId: string
  sign(bytes: Buffer): Buffer
}

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
export const PREDICATE_TYPE = 'urn:quantum-job-service:capsule-seal:v1'

export interface SealFacts {
  /** Text of capsule.yaml. */
  manifest: string
  /** Text of .checksums, which lists every file. */
  checksums: string
  capsuleDigest: string
  rootDigest: string
  name: string
  sealedAt: Date
  sealedBy: string
  exitCode: number
  margin: number
}

export interface Statement {
  _type: typeof STATEMENT_TYPE
  subject: { name: string; digest: { sha256: string } }[]
  predicateType: typeof PREDICATE_TYPE
  predicate: {
    capsule_id: string
    root_digest: string
    name: string
    sealed_at: string
    sealed_by: string
    exit_code: number
    margin: number
    /** Tasks whose results only their own programs vouch for; absent when there are none. */
    program_reported?: string[]
  }
}

/** JSON text of the statement. Its subjects are the two files that determine all others. */
export function statement(facts: SealFacts): string {
  const reported = programReportedTasks(JSON.parse(facts.manifest) as Manifest)
  const value: Statement = {
    _type: STATEMENT_TYPE,
    subject: [
      { name: CHECKSUMS_NAME, digest: { sha256: sha256(facts.checksums) } },
      { name: MANIFEST_NAME, digest: { sha256: sha256(facts.manifest) } }
    ],
    predicateType: PREDICATE_TYPE,
    predicate: {
      capsule_id: facts.capsuleDigest,
      root_digest: facts.rootDigest,
      name: facts.name,
      sealed_at: facts.sealedAt.toISOString(),
      sealed_by: facts.sealedBy,
      exit_code: facts.exitCode,
      margin: facts.margin,
      ...(reported.length > 0 && { program_reported: reported })
    }
  }
  return canonicalJson(value)
}

/** JSON text of the envelope. */
export function dsseEnvelope(payload: string, signer: EnvelopeSigner): string {
  const body = Buffer.from(payload)
  return canonicalJson({
    payload: body.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: signer.keyId, sig: signer.sign(signedBytes(PAYLOAD_TYPE, body)).toString('base64') }]
  })
}

/** The bytes that are signed: DSSE's pre-authentication encoding. */
const signedBytes = (type: string, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload])

export const ENVELOPE_BYTES_MAX = 64 * 1024

/**
 * Returns the statement of an envelope if one of its signatures is valid under one of the keys.
 * @param publicKeyPem one or more keys in PEM form, other text in between allowed: the output of `qjob signing-keys`, also with `--json`.
 * @throws ServiceError `validation_error` naming what is wrong.
 */
export function verifyEnvelope(envelope: string, publicKeyPem: string): Statement {
  if (Buffer.byteLength(envelope) > ENVELOPE_BYTES_MAX) throw packageFault('attestation: too large')
  const { payload, payloadType, signatures } = parsedEnvelope(envelope)
  if (payloadType !== PAYLOAD_TYPE) throw packageFault(`attestation: payloadType must be ${PAYLOAD_TYPE}`)
  const body = strictBase64(payload, 'payload')
  const keys = ed25519Keys(publicKeyPem)
  const bytes = signedBytes(payloadType, body)
  const signs = signatures.map(({ sig }) => strictBase64(sig, 'sig'))
  if (!signs.some((sig) => keys.some((key) => verify(null, bytes, key, sig))))
    throw packageFault(
      `attestation: the signature is not valid under ${keys.length === 1 ? 'this key' : 'any of these keys'}`
    )
  return checkedStatement(body)
}

function parsedEnvelope(text: string): { payload: string; payloadType: string; signatures: { sig: string }[] } {
  const value = parsed(text, 'attestation') as { payload?: unknown; payloadType?: unknown; signatures?: unknown } | null
  const { payload, payloadType, signatures } = value ?? {}
  const signed = (one: unknown): one is { sig: string } => typeof (one as { sig?: unknown } | null)?.sig === 'string'
  if (typeof payload !== 'string' || typeof payloadType !== 'string' || !Array.isArray(signatures))
    throw packageFault('attestation: not a DSSE envelope (payload, payloadType, signatures)')
  if (signatures.length === 0 || signatures.length > 8 || !signatures.every(signed))
    throw packageFault('attestation: needs 1 to 8 signatures, each with a sig')
  return { payload, payloadType, signatures }
}

function checkedStatement(body: Buffer): Statement {
  const value = parsed(body.toString('utf8'), 'attestation payload') as Partial<Statement> | null
  if (value?._type !== STATEMENT_TYPE) throw packageFault(`attestation: _type must be ${STATEMENT_TYPE}`)
  if (value.predicateType !== PREDICATE_TYPE) throw packageFault(`attestation: predicateType must be ${PREDICATE_TYPE}`)
  if (!Array.isArray(value.subject) || typeof value.predicate !== 'object' || value.predicate === null)
    throw packageFault('attestation: subject or predicate is missing')
  return value as Statement
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw packageFault(`${what}: not JSON`)
  }
}

/** DSSE allows both base64 alphabets and no other characters. */
function strictBase64(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  const plain = text.replace(/={0,2}$/, '')
  if (bytes.toString('base64') === text || bytes.toString('base64url') === plain) return bytes
  throw packageFault(`attestation: ${what} is not base64`)
}

// In JSON, line ends are escaped.
const publicKey = /-----BEGIN PUBLIC KEY-----(?:\\n|[A-Za-z0-9+/=\s]){1,1000}-----END PUBLIC KEY-----/g
const KEYS_MAX = 100

function ed25519Keys(text: string): KeyObject[] {
  const keys = [...text.matchAll(publicKey)].slice(0, KEYS_MAX).flatMap(([pem]) => {
    try {
      const key = createPublicKey(pem.replaceAll('\\n', '\n'))
      return key.asymmetricKeyType === 'ed25519' ? [key] : []
    } catch {
      return []
    }
  })
  if (keys.length === 0) throw packageFault('the key is not an Ed25519 public key in PEM form')
  return keys
}
