// A seal is attested to so that anybody can check it with tools of their own, and so that nothing else can be made of it.
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

test('an independent reader finds the signature good and the statement to be of the two files that fix all others', async () => {
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

describe('an envelope is refused', () => {
  const good = async () => JSON.parse((await sealedSample()).envelope) as Record<string, unknown>

  test.each<[string, (envelope: Record<string, unknown>) => unknown, RegExp]>([
    [
      'whose payload was changed',
      (one) => ({ ...one, payload: Buffer.from('{}').toString('base64') }),
      /does not hold/
    ],
    ['of another type', (one) => ({ ...one, payloadType: 'text/plain' }), /payloadType/],
    ['without signatures', (one) => ({ ...one, signatures: [] }), /1 to 8 signatures/],
    ['with a hundred signatures', (one) => ({ ...one, signatures: Array(100).fill({ sig: '' }) }), /1 to 8/],
    ['whose signature is no base64', (one) => ({ ...one, signatures: [{ sig: '!' }] }), /not base64/],
    ['whose signature is too short', (one) => ({ ...one, signatures: [{ sig: 'AAAA' }] }), /does not hold/],
    ['that is a list', () => [], /not a DSSE envelope/],
    ['that is null', () => null, /not a DSSE envelope/]
  ])('%s', async (_what, change, message) => {
    const envelope = JSON.stringify(change(await good()))
    expect(() => verifyEnvelope(envelope, publicKeyPem)).toThrow(message)
  })

  test('that is no JSON, or too large', () => {
    expect(() => verifyEnvelope('{', publicKeyPem)).toThrow('not JSON')
    expect(() => verifyEnvelope(' '.repeat(70_000), publicKeyPem)).toThrow('too large')
  })

  test('under another key, or what is no Ed25519 key', async () => {
    const { envelope } = await sealedSample()
    expect(() => verifyEnvelope(envelope, otherPem)).toThrow('does not hold under this key')
    expect(() => verifyEnvelope(envelope, 'no key')).toThrow('no Ed25519 public key')
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' })
    expect(() => verifyEnvelope(envelope, rsa as string)).toThrow('no Ed25519 public key')
  })

  test('whose signature is over the payload alone, without its type', async () => {
    const { envelope } = await sealedSample()
    const payload = Buffer.from((JSON.parse(envelope) as { payload: string }).payload, 'base64')
    const bare = sign(null, payload, other.privateKey).toString('base64')
    const forged = { payload: payload.toString('base64'), payloadType: PAYLOAD_TYPE, signatures: [{ sig: bare }] }
    expect(() => verifyEnvelope(JSON.stringify(forged), otherPem)).toThrow('does not hold')
  })

  test('whose payload is signed and is no statement of a seal', () => {
    for (const payload of ['null', '[]', '{}', '{"_type":"https://in-toto.io/Statement/v1"}'])
      expect(() => verifyEnvelope(signedByOther(payload), otherPem)).toThrow(/attestation: /)
  })
})

describe('an envelope holds', () => {
  const parsed = async () =>
    JSON.parse((await sealedSample()).envelope) as {
      payload: string
      payloadType: string
      signatures: { sig: string }[]
    }

  test('in either alphabet of base64, and in no third', async () => {
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

  test('with a second signature, by one that the reader does not know', async () => {
    const { payload, payloadType, signatures } = await parsed()
    const [second] = (JSON.parse(signedByOther('{}')) as { signatures: { sig: string }[] }).signatures
    const both = JSON.stringify({ payload, payloadType, signatures: [second, ...signatures] })
    expect(verifyEnvelope(both, publicKeyPem).predicate.exit_code).toBe(0)
    expect(() => verifyEnvelope(both, otherPem)).toThrow('does not hold under this key')
  })

  test('under one key of several, as text or as the service answers them', async () => {
    const { envelope } = await sealedSample()
    const answer = (...pems: string[]) => JSON.stringify({ keys: pems.map((pem) => ({ public_key_pem: pem })) })
    for (const keys of [`b  ed25519\n${otherPem}\na  ed25519\n${publicKeyPem}`, answer(otherPem, publicKeyPem)])
      expect(verifyEnvelope(envelope, keys).predicate.exit_code).toBe(0)
    expect(() => verifyEnvelope(envelope, answer(otherPem, otherPem))).toThrow('under any of these keys')
    expect(() => verifyEnvelope(envelope, answer())).toThrow('no Ed25519 public key')
  })
})

describe('a package is vouched for', () => {
  test('by its identity, or by an attestation under a key that the caller has', async () => {
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

  test('by nothing that is of another package, another key, or missing', async () => {
    const { archive, envelope } = await sealedSample()
    const another = await sealedSample({ description: 'another' })
    const read = await readPackage(archive)
    const failed = (trusted: Parameters<typeof verifyPackage>[1]) =>
      verifyPackage(read, trusted)
        .checks.filter(({ ok }) => ok === false)
        .map(({ detail }) => detail)
    expect(failed({ expectedId: another.sealed.capsuleDigest })).toEqual([expect.stringContaining('not of mqc:1:')])
    expect(failed({ envelope: another.envelope, publicKeyPem })).toEqual(['the attestation is of other files'])
    expect(failed({ envelope, publicKeyPem: otherPem })).toEqual([expect.stringContaining('does not hold')])
    expect(failed({ publicKeyPem })).toEqual(['there is no attestation'])
  })

  test('by no statement about the right files and another identity', async () => {
    const { input, sealed, archive } = await sealedSample()
    const wrong = signedByOther(statement({ ...input, ...sealed, capsuleDigest: `mqc:1:${'0'.repeat(64)}` }))
    const report = verifyPackage(await readPackage(archive), { envelope: wrong, publicKeyPem: otherPem })
    expect(report).toMatchObject({ ok: false, authenticated: false })
    const none = { ...JSON.parse(statement({ ...input, ...sealed })), subject: [null, { name: 'capsule.yaml' }] }
    const { checks } = verifyPackage(await readPackage(archive), {
      envelope: signedByOther(JSON.stringify(none)),
      publicKeyPem: otherPem
    })
    expect(checks.at(-1)).toMatchObject({ ok: false, detail: 'the attestation is of other files' })
  })
})
