// A seal has an attestation that independent tools can check and that cannot be used for any other capsule.
import { generateKeyPairSync, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { dsseEnvelope, PAYLOAD_TYPE, statement, verifyEnvelope } from '../../capsule-format/attestation.js'
import { sha256 } from '../../capsule-format/checksums.js'
import { readPackage } from '../../capsule-format/package-reader.js'
import { verifyPackage } from '../../capsule-format/package-verification.js'
import { inFolder, publicKeyPem, pythonAnswer, sealedSample } from './sample.js'

const other = generateKeyPairSync('ed25519')
const otherPem = other.publicKey.export({ type: 'spki', format: 'pem' }) as string
const signedByOther = (payload: string) =>
  dsseEnvelope(payload, { keyId: 'other', sign: (bytes) => sign(null, bytes, other.privateKey) })

test('an independent reader accepts the signature, and the statement names the two files that determine all others', async () => {
  const { sealed, envelope } = await sealedSample()
  await inFolder((folder) => {
    writeFileSync(join(folder, 'envelope.json'), envelope)
    writeFileSync(join(folder, 'key.pem'), publicKeyPem)
    expect(pythonAnswer('dsse_check.py', join(folder, 'envelope.json'), join(folder, 'key.pem'))).toMatchObject({
      keyid: 'key-1',
      statement: {
        _type: 'https://in-toto.io/Statement/v1',
        subject: [
          { name: '.checksums', digest: { sha256: sealed.rootDigest.slice('sha256:'.length) } },
          { name: 'capsule.yaml', digest: { sha256: sha256(sealed.manifest) } }
        ],
        predicate: { capsule_id: sealed.capsuleDigest, root_digest: sealed.rootDigest, exit_code: 0, margin: 0.05 }
      }
    })
  })
})

describe('an attestation envelope is refused', () => {
  const good = async () => JSON.parse((await sealedSample()).envelope) as Record<string, unknown>

  test.each<[string, (envelope: Record<string, unknown>) => unknown, RegExp]>([
    ['whose payload was changed', (one) => ({ ...one, payload: Buffer.from('{}').toString('base64') }), /is not valid/],
    ['if it has another type', (one) => ({ ...one, payloadType: 'text/plain' }), /payloadType/],
    ['if it has no signatures', (one) => ({ ...one, signatures: [] }), /1 to 8 signatures/],
    ['if it has a hundred signatures', (one) => ({ ...one, signatures: Array(100).fill({ sig: '' }) }), /1 to 8/],
    ['if its signature is not base64', (one) => ({ ...one, signatures: [{ sig: '!' }] }), /not base64/],
    ['if its signature is too short', (one) => ({ ...one, signatures: [{ sig: 'AAAA' }] }), /is not valid/],
    ['if it is a list', () => [], /not a DSSE envelope/],
    ['if it is null', () => null, /not a DSSE envelope/]
  ])('%s', async (_what, change, message) => {
    const envelope = JSON.stringify(change(await good()))
    expect(() => verifyEnvelope(envelope, publicKeyPem)).toThrow(message)
  })

  test('if it is not JSON, or too large', () => {
    expect(() => verifyEnvelope('{', publicKeyPem)).toThrow('not JSON')
    expect(() => verifyEnvelope(' '.repeat(70_000), publicKeyPem)).toThrow('too large')
  })

  test('under another key, or if the key is not Ed25519', async () => {
    const { envelope } = await sealedSample()
    expect(() => verifyEnvelope(envelope, otherPem)).toThrow('is not valid under this key')
    expect(() => verifyEnvelope(envelope, 'no key')).toThrow('not an Ed25519 public key')
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' })
    expect(() => verifyEnvelope(envelope, rsa as string)).toThrow('not an Ed25519 public key')
  })

  test('if the signature covers the payload without its type', async () => {
    const { envelope } = await sealedSample()
    const payload = Buffer.from((JSON.parse(envelope) as { payload: string }).payload, 'base64')
    const bare = sign(null, payload, other.privateKey).toString('base64')
    const forged = { payload: payload.toString('base64'), payloadType: PAYLOAD_TYPE, signatures: [{ sig: bare }] }
    expect(() => verifyEnvelope(JSON.stringify(forged), otherPem)).toThrow('is not valid')
  })

  test('if the signed payload is not the statement of a seal', () => {
    for (const payload of ['null', '[]', '{}', '{"_type":"https://in-toto.io/Statement/v1"}'])
      expect(() => verifyEnvelope(signedByOther(payload), otherPem)).toThrow(/attestation: /)
  })
})

describe('an attestation envelope is valid', () => {
  const parsed = async () =>
    JSON.parse((await sealedSample()).envelope) as {
      payload: string
      payloadType: string
      signatures: { sig: string }[]
    }

  test('in both base64 alphabets, and in no other', async () => {
    const { payload, payloadType, signatures } = await parsed()
    const url = (text: string) => Buffer.from(text, 'base64').toString('base64url')
    const written = (form: (text: string) => string) =>
      JSON.stringify({
        payload: form(payload),
        payloadType,
        signatures: signatures.map(({ sig }) => ({ sig: form(sig) }))
      })
    expect(verifyEnvelope(written(url), publicKeyPem).predicate.exit_code).toBe(0)
    expect(() =>
      verifyEnvelope(
        written((text) => `${text}\n`),
        publicKeyPem
      )
    ).toThrow('not base64')
    expect(() =>
      verifyEnvelope(
        written((text) => `${url(text)}+/-_`),
        publicKeyPem
      )
    ).toThrow('not base64')
  })

  test('with a second signature by a key that the reader does not know', async () => {
    const { payload, payloadType, signatures } = await parsed()
    const [second] = (JSON.parse(signedByOther('{}')) as { signatures: { sig: string }[] }).signatures
    const both = JSON.stringify({ payload, payloadType, signatures: [second, ...signatures] })
    expect(verifyEnvelope(both, publicKeyPem).predicate.exit_code).toBe(0)
    expect(() => verifyEnvelope(both, otherPem)).toThrow('is not valid under this key')
  })

  test('under one of several keys, as text or as the service returns them', async () => {
    const { envelope } = await sealedSample()
    const answer = (...pems: string[]) => JSON.stringify({ keys: pems.map((pem) => ({ public_key_pem: pem })) })
    for (const keys of [`b  ed25519\n${otherPem}\na  ed25519\n${publicKeyPem}`, answer(otherPem, publicKeyPem)])
      expect(verifyEnvelope(envelope, keys).predicate.exit_code).toBe(0)
    expect(() => verifyEnvelope(envelope, answer(otherPem, otherPem))).toThrow('under any of these keys')
    expect(() => verifyEnvelope(envelope, answer())).toThrow('not an Ed25519 public key')
  })
})

describe('a package is authentic', () => {
  test('under its identity, or under an attestation by a key that the caller has', async () => {
    const { sealed, archive, envelope } = await sealedSample()
    const read = await readPackage(archive)
    expect(verifyPackage(read)).toMatchObject({ ok: true, authenticated: false })
    expect(verifyPackage(read, { expectedId: sealed.capsuleDigest })).toMatchObject({ ok: true, authenticated: true })
    expect(verifyPackage(read, { envelope, publicKeyPem })).toMatchObject({
      ok: true,
      authenticated: true,
      capsule_digest: sealed.capsuleDigest
    })
  })

  test('never under a proof that is missing or belongs to another package or key', async () => {
    const { archive, envelope } = await sealedSample()
    const another = await sealedSample({ description: 'another' })
    const read = await readPackage(archive)
    const failed = (trusted: Parameters<typeof verifyPackage>[1]) =>
      verifyPackage(read, trusted)
        .checks.filter(({ ok }) => ok === false)
        .map(({ detail }) => detail)
    expect(failed({ expectedId: another.sealed.capsuleDigest })).toEqual([expect.stringContaining('not of mqc:1:')])
    expect(failed({ envelope: another.envelope, publicKeyPem })).toEqual(['the attestation is for other files'])
    expect(failed({ envelope, publicKeyPem: otherPem })).toEqual([expect.stringContaining('is not valid')])
    expect(failed({ publicKeyPem })).toEqual(['there is no attestation'])
  })

  test('never under a statement about the right files and another identity', async () => {
    const { input, sealed, archive } = await sealedSample()
    const wrong = signedByOther(statement({ ...input, ...sealed, capsuleDigest: `mqc:1:${'0'.repeat(64)}` }))
    const report = verifyPackage(await readPackage(archive), { envelope: wrong, publicKeyPem: otherPem })
    expect(report).toMatchObject({ ok: false, authenticated: false })
    const none = { ...JSON.parse(statement({ ...input, ...sealed })), subject: [null, { name: 'capsule.yaml' }] }
    const { checks } = verifyPackage(await readPackage(archive), {
      envelope: signedByOther(JSON.stringify(none)),
      publicKeyPem: otherPem
    })
    expect(checks.at(-1)).toMatchObject({ ok: false, detail: 'the attestation is for other files' })
  })
})
