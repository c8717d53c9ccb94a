import { createHash, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import {
  configuredKeyRing,
  type KeyRing,
  readKeyRing,
  type Sealed,
  UnopenableError
} from '../../../services/keys/key-ring.js'

const newKey = (): string => randomBytes(32).toString('base64')
const [first, second] = [newKey(), newKey()]
const ring = readKeyRing(`k1:${first}`)
const context = ['team-1', 'ionq', 'api_key', 'row-1']
const value = 'a value that is to stay secret, é and 🔑'

const reasonOf = (open: () => unknown): unknown => {
  try {
    return open()
  } catch (error) {
    return error
  }
}

/** Expects the one class of refusal, which contains nothing of the value. */
function expectRefused(from: KeyRing, sealed: Sealed, where: readonly string[] = context): void {
  const error = reasonOf(() => from.open(sealed, where))
  expect(error).toBeInstanceOf(UnopenableError)
  const { message, cause, ...fields } = error as Error
  expect([cause, fields]).toEqual([undefined, { name: 'UnopenableError' }])
  expect(message).not.toMatch(/secret|a value/)
}

describe('a sealed value', () => {
  test.each(['', 'x', value, 'v'.repeat(4096)])('opens to what was sealed (%#)', (plaintext) => {
    expect(ring.open(ring.seal(plaintext, context), context)).toBe(plaintext)
  })

  test('has a new key and new IVs each time', () => {
    const many = Array.from({ length: 200 }, () => ring.seal(value, context))
    const parts = many.flatMap(({ wrappedKey, sealedValue }) => [
      wrappedKey.subarray(0, 12).toString('hex'),
      sealedValue.subarray(0, 12).toString('hex'),
      sealedValue.subarray(12).toString('hex')
    ])
    expect(new Set(parts).size).toBe(parts.length)
    for (const { sealedValue } of many) expect(sealedValue.includes(Buffer.from('secret'))).toBe(false)
  })

  test('is refused when any byte is changed', () => {
    const sealed = ring.seal(value, context)
    let flips = 0
    for (const part of ['wrappedKey', 'sealedValue'] as const)
      for (let at = 0; at < sealed[part].length; at++)
        for (const bit of [1, 0x80]) {
          const bytes = Buffer.from(sealed[part])
          bytes[at]! ^= bit
          expectRefused(ring, { ...sealed, [part]: bytes })
          flips++
        }
    expect(flips).toBe(2 * (60 + 28 + Buffer.byteLength(value)))
  })

  test('is refused when either part is shorter or longer, down to a tag of four bytes', () => {
    const sealed = ring.seal(value, context)
    for (const part of ['wrappedKey', 'sealedValue'] as const) {
      for (let length = 0; length < sealed[part].length; length++)
        expectRefused(ring, { ...sealed, [part]: sealed[part].subarray(0, length) })
      expectRefused(ring, { ...sealed, [part]: Buffer.concat([sealed[part], Buffer.alloc(1)]) })
    }
  })

  test('is refused for another team, provider, key name or row, and for parts that are joined differently', () => {
    const sealed = ring.seal(value, context)
    for (let at = 0; at < context.length; at++)
      expectRefused(
        ring,
        sealed,
        context.map((part, index) => (index === at ? `${part}x` : part))
      )
    expectRefused(ring, sealed, ['team-1ionq', 'api_key', 'row-1'])
    expectRefused(ring, sealed, ['team-1', 'ionqapi_key', '', 'row-1'])
    expectRefused(ring, sealed, [...context].reverse())
    expectRefused(ring, sealed, [...context, ''])
    expectRefused(ring, sealed, [])
  })

  test('is refused with the key of another value, even of the same row', () => {
    const [one, two] = [ring.seal(value, context), ring.seal(value, context)]
    expectRefused(ring, { ...one, wrappedKey: two.wrappedKey })
    expectRefused(ring, { ...one, sealedValue: two.sealedValue })
    expectRefused(ring, { ...one, wrappedKey: one.sealedValue, sealedValue: one.wrappedKey })
  })

  test('is refused by a ring without its key, or with another key under the same id', () => {
    const sealed = ring.seal(value, context)
    expectRefused(readKeyRing(`k2:${second}`), sealed)
    expectRefused(readKeyRing(`k1:${second}`), sealed)
    expectRefused(readKeyRing(`k1:${first},k2:${second}`), { ...sealed, ringKeyId: 'k2' })
  })
})

describe('a new first key', () => {
  const both = readKeyRing(`k2:${second},k1:${first}`)

  test('seals from then on, while the old one still opens', () => {
    const old = ring.seal(value, context)
    expect(both.currentKeyId).toBe('k2')
    expect(both.open(old, context)).toBe(value)
    expect(both.seal(value, context).ringKeyId).toBe('k2')
  })

  test('re-wraps a value without changing it, and the old key is no longer needed', () => {
    const old = ring.seal(value, context)
    const next = { ...old, ...both.rewrap(old, context) }
    expect(next.ringKeyId).toBe('k2')
    expect(next.sealedValue).toBe(old.sealedValue)
    expect(readKeyRing(`k2:${second}`).open(next, context)).toBe(value)
    expectRefused(ring, next)
  })

  test('re-wraps no value for another row', () => {
    const old = ring.seal(value, context)
    expect(reasonOf(() => both.rewrap(old, [...context, 'x']))).toBeInstanceOf(UnopenableError)
    const changed = Buffer.from(old.wrappedKey)
    changed[30]! ^= 1
    expect(reasonOf(() => both.rewrap({ ...old, wrappedKey: changed }, context))).toBeInstanceOf(UnopenableError)
  })
})

describe('SECRETS_KEYS', () => {
  const short = randomBytes(31).toString('base64')

  test('is read with several keys, on one line or several, padded or not, in either alphabet', () => {
    const keys = [first, second, newKey()]
    expect(readKeyRing(`a:${keys[0]},b:${keys[1]}, c:${keys[2]}\n`).keyIds).toEqual(['a', 'b', 'c'])
    expect(readKeyRing(`a:${keys[0]}\nb:${keys[1]}\n`).keyIds).toEqual(['a', 'b'])
    const sealed = ring.seal(value, context)
    expect(readKeyRing(`k1:${first.replace('=', '')}`).open(sealed, context)).toBe(value)
    expect(readKeyRing(`k1:${Buffer.from(first, 'base64').toString('base64url')}`).open(sealed, context)).toBe(value)
  })

  test.each([
    ['nothing', '', 'entry 1 must be an id, a colon and a key'],
    ['a key without an id', first, 'entry 1 must be an id, a colon and a key'],
    ['an empty id', `:${first}`, 'the id of entry 1 must have 1 to 32'],
    ['an id with a dot', `k.1:${first}`, 'the id of entry 1 must have 1 to 32'],
    ['an id of 33 characters', `${'k'.repeat(33)}:${first}`, 'the id of entry 1 must have 1 to 32'],
    ['a key in the place of the id', `${first}:k1`, 'the id of entry 1 must have 1 to 32'],
    ['31 bytes', `k1:${short}`, 'the key k1 must be 32 random bytes in base64'],
    ['33 bytes', `k1:${randomBytes(33).toString('base64')}`, 'the key k1 must be 32 random bytes in base64'],
    ['hex', `k1:${randomBytes(32).toString('hex')}`, 'the key k1 must be 32 random bytes in base64'],
    ['a word', 'k1:changeme', 'the key k1 must be 32 random bytes in base64'],
    ['no key', 'k1:', 'the key k1 must be 32 random bytes in base64'],
    ['a character outside base64', `k1:${first.slice(0, 20)}!${first.slice(20)}`, 'the key k1 must be 32 random bytes'],
    ['a placeholder', `k1:${Buffer.alloc(32, 7).toString('base64')}`, 'the key k1 is one byte repeated'],
    ['a second entry that is wrong', `k1:${first},k2:${short}`, 'the key k2 must be 32 random bytes in base64'],
    ['an entry that is empty', `k1:${first},,k2:${second},`, 'entry 3 must be an id, a colon and a key'],
    ['one id twice', `k1:${first},k1:${second}`, 'two keys are called k1'],
    ['one key twice', `k1:${first},k2:${first}`, 'k1 and k2 are the same key']
  ])('with %s is refused, and no key is shown', (_what, text, message) => {
    const error = reasonOf(() => readKeyRing(text)) as Error
    expect(error.message).toContain(`SECRETS_KEYS: ${message}`)
    for (const key of [first, second, short]) expect(error.message).not.toContain(key.slice(0, 8))
  })

  test('is required in production, and optional elsewhere', () => {
    expect(configuredKeyRing({})).toBeNull()
    expect(configuredKeyRing({ SECRETS_KEYS: ' ', NODE_ENV: 'development' })).toBeNull()
    expect(configuredKeyRing({ SECRETS_KEYS: `k1:${first}`, NODE_ENV: 'production' })?.currentKeyId).toBe('k1')
    for (const SECRETS_KEYS of [undefined, '', ' \n'])
      expect(() => configuredKeyRing({ SECRETS_KEYS, NODE_ENV: 'production' })).toThrow('SECRETS_KEYS is not set')
    expect(() => configuredKeyRing({ SECRETS_KEYS: 'k1:short' })).toThrow('the key k1 must be 32 random bytes')
  })

  test('stays secret when the ring is printed, logged or sent', () => {
    const shown = inspect(ring, { depth: 9, showHidden: true }) + JSON.stringify(ring)
    expect(shown).toContain('k1')
    const bytes = Buffer.from(first, 'base64')
    for (const form of [
      first,
      bytes.toString('hex'),
      bytes.toString('latin1'),
      createHash('sha256').update(bytes).digest('hex')
    ])
      expect(shown).not.toContain(form.slice(0, 12))
  })
})
