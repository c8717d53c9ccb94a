// The signed attestation of a capsule: an in-toto statement in a DSSE envelope, signed with Ed25519.

export interface SigningKey {
  key_id: string
  public_key_pem: string
}

export interface Envelope {
  payload: string
  payloadType: string
  signatures: readonly { keyid: string; sig: string }[]
}

export interface SignedStatement {
  /** Hex SHA-256 by the name of the file. */
  subjects: ReadonlyMap<string, string>
  /** `mqc:1:<hex>` */
  capsuleId: string
  /** The key that signed it. */
  keyId: string
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
const PREDICATE_TYPE = 'urn:quantum-job-service:capsule-seal:v1'

/** Whether this browser can check signatures: it can on https and on the own machine, if it is not old. */
export async function canVerify(): Promise<boolean> {
  if (globalThis.crypto?.subtle === undefined || typeof DecompressionStream === 'undefined') return false
  try {
    await crypto.subtle.importKey('raw', new Uint8Array(32), 'Ed25519', false, ['verify'])
    return true
  } catch (error) {
    // A browser that knows Ed25519 may refuse this key, but not the algorithm.
    return !(error instanceof DOMException && error.name === 'NotSupportedError')
  }
}

/** @returns what was signed, or in words why the signature does not hold. */
export async function checkEnvelope(
  envelope: Envelope,
  keys: readonly SigningKey[]
): Promise<SignedStatement | string> {
  if (envelope.payloadType !== PAYLOAD_TYPE) return `the attestation is not of type ${PAYLOAD_TYPE}`
  const payload = bytesOf(envelope.payload)
  const signed = preAuthentication(envelope.payloadType, payload)
  for (const { sig } of envelope.signatures)
    for (const key of keys)
      if (await crypto.subtle.verify('Ed25519', await publicKey(key.public_key_pem), bytesOf(sig), signed))
        return readStatement(new TextDecoder().decode(payload), key.key_id)
  return 'the signature is not valid under any key of this service'
}

/** DSSE's encoding of what is signed. */
function preAuthentication(type: string, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const before = encoder.encode(`DSSEv1 ${encoder.encode(type).length} ${type} ${payload.length} `)
  const all = new Uint8Array(before.length + payload.length)
  all.set(before)
  all.set(payload, before.length)
  return all
}

const publicKey = (pem: string) =>
  crypto.subtle.importKey('spki', bytesOf(pem.replace(/-----[^-]+-----|\s/g, '')), 'Ed25519', false, ['verify'])

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

function readStatement(text: string, keyId: string): SignedStatement | string {
  const { _type, subject, predicateType, predicate } = JSON.parse(text) as {
    _type?: unknown
    subject?: { name: string; digest: { sha256: string } }[]
    predicateType?: unknown
    predicate?: { capsule_id?: unknown }
  }
  if (_type !== STATEMENT_TYPE || predicateType !== PREDICATE_TYPE || !Array.isArray(subject))
    return 'what was signed is not the seal of a capsule'
  if (typeof predicate?.capsule_id !== 'string') return 'what was signed names no capsule'
  return {
    subjects: new Map(subject.map(({ name, digest }) => [name, digest.sha256])),
    capsuleId: predicate.capsule_id,
    keyId
  }
}
