// Checks a package that was read against its seal, its attestation and the identity that the caller trusts.

import { codeOf } from '../domain/errors.js'
import { type Statement, verifyEnvelope } from './attestation.js'
import { sha256 } from './checksums.js'
import type { ReadPackage } from './package-reader.js'
import { CHECKSUMS_NAME, MANIFEST_NAME, shownName } from './payload-file.js'

export interface PackageCheck {
  check: 'digests' | 'identity' | 'attestation'
  /** Null if there was nothing to check against. */
  ok: boolean | null
  detail: string
}

export interface PackageReport {
  /** No check failed, and the package is sealed. */
  ok: boolean
  /** Whether a trusted identity or a signature under a given key confirms the manifest. Digests alone prove nothing. */
  authenticated: boolean
  capsule_digest: string
  root_digest: string | null
  checks: PackageCheck[]
}

export interface TrustedFacts {
  /** JSON text; default: the one in the package. */
  envelope?: string
  /** A key that the caller trusts; the one in a package proves nothing. */
  publicKeyPem?: string
  /** `mqc:1:<hex>`. */
  expectedId?: string
}

export function verifyPackage(read: ReadPackage, trusted: TrustedFacts = {}): PackageReport {
  const checks = [digestsCheck(read), identityCheck(read, trusted.expectedId), attestationCheck(read, trusted)]
  return {
    ok: checks.every(({ ok }) => ok !== false),
    authenticated: checks.slice(1).some(({ ok }) => ok === true),
    capsule_digest: read.capsuleDigest,
    root_digest: read.rootDigest,
    checks
  }
}

function digestsCheck(read: ReadPackage): PackageCheck {
  if (read.rootDigest === null)
    return { check: 'digests', ok: false, detail: 'the package is not sealed: it states no digests' }
  return { check: 'digests', ok: true, detail: `${read.files.length} files match .checksums and the manifest` }
}

function identityCheck(read: ReadPackage, expected: string | undefined): PackageCheck {
  if (expected === undefined) return { check: 'identity', ok: null, detail: 'no identity was given to compare with' }
  return read.capsuleDigest === expected
    ? { check: 'identity', ok: true, detail: `the manifest is that of ${expected}` }
    : { check: 'identity', ok: false, detail: `the manifest is that of ${read.capsuleDigest}, not of ${expected}` }
}

/** What the signer does not vouch for. */
function reservation({ program_reported: tasks }: Statement['predicate']): string {
  if (!Array.isArray(tasks) || tasks.length === 0) return ''
  const shown = tasks.slice(0, 5).map((name) => shownName(String(name)))
  return `; the results of ${shown.join(', ')}${tasks.length > 5 ? ` and ${tasks.length - 5} more` : ''} are those that the programs reported`
}

function attestationCheck(read: ReadPackage, trusted: TrustedFacts): PackageCheck {
  const result = (ok: boolean | null, detail: string): PackageCheck => ({ check: 'attestation', ok, detail })
  const envelope = trusted.envelope ?? read.envelope
  if (envelope === null) return result(trusted.publicKeyPem ? false : null, 'there is no attestation')
  if (trusted.publicKeyPem === undefined) return result(null, 'no key was given to check the attestation with')
  try {
    const { subject, predicate } = verifyEnvelope(envelope, trusted.publicKeyPem)
    const stated = (name: string) => subject.find((one) => one?.name === name)?.digest?.sha256
    if (stated(MANIFEST_NAME) !== sha256(read.manifestText) || stated(CHECKSUMS_NAME) !== sha256(read.checksums ?? ''))
      return result(false, 'the attestation is for other files')
    if (predicate.capsule_id !== read.capsuleDigest || predicate.root_digest !== read.rootDigest)
      return result(false, 'the attestation is for another capsule')
    return result(true, `signed as ${predicate.capsule_id}, sealed at ${predicate.sealed_at}${reservation(predicate)}`)
  } catch (error) {
    if (codeOf(error) === null) throw error
    return result(false, (error as Error).message)
  }
}
