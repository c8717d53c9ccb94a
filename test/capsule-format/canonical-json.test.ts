// One value has one text and one identity, checked against the published vectors of the format.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { checksumsText, manifestDigest, parsedChecksums, rootDigest } from '../../capsule-format/checksums.js'
import { type Manifest, manifestText } from '../../capsule-format/manifest/manifest.js'
import { decodedManifest, readManifest } from '../../capsule-format/manifest/manifest-reader.js'
import { checkManifest } from '../../capsule-format/manifest/manifest-schema.js'
import { CanonicalJsonError, canonicalJson } from '../../domain/json/canonical-json.js'
import { fixtures, textFile } from './sample.js'

const golden = <T>(name: string): T => JSON.parse(readFileSync(join(fixtures, 'golden', name), 'utf8')) as T

interface EdgeCase {
  name: string
  yaml?: string
  bytes_hex?: string
  reject?: boolean
  canonical_utf8?: string
  capsule_id?: string
}
const edgeCases = golden<EdgeCase[]>('canonical-edge-cases.json')
const bytesOf = ({ yaml, bytes_hex }: EdgeCase) => (bytes_hex ? Buffer.from(bytes_hex, 'hex') : Buffer.from(yaml!))

describe('manifests of the format', () => {
  test('the conformance suite is complete', () => expect(edgeCases).toHaveLength(125))

  test.each(edgeCases.filter(({ reject }) => !reject).map((one) => [one.name, one] as const))(
    '%s has the published text and identity',
    (_name, one) => {
      const value = readManifest(decodedManifest(bytesOf(one)))
      expect(canonicalJson(value, 'read')).toBe(one.canonical_utf8)
      expect(manifestDigest(value, 'read')).toBe(one.capsule_id)
      // Written by this code, they are read back as the same value.
      expect(manifestDigest(readManifest(manifestText(value as Manifest)))).toBe(one.capsule_id)
    }
  )

  test.each(edgeCases.filter(({ reject }) => reject).map((one) => [one.name, one] as const))(
    '%s has none',
    (_name, one) => {
      expect(() => canonicalJson(readManifest(decodedManifest(bytesOf(one))), 'read')).toThrow(
        expect.objectContaining({ code: 'validation_error', message: expect.stringContaining('capsule.yaml') })
      )
    }
  )

  // Found by comparison with the reference reader on 90,000 mutated documents.
  test.each([
    ['a block without a line feed at its end', 'a: |\n  x'],
    ['a byte order mark inside', 'a: 1\n\ufeffb: 2\n'],
    ['an empty tag', 'a: !\n'],
    ['a quote that is never closed', 'a: "x\\"'],
    ['a key over two lines', 'a: 1\nb\n  : 2\n'],
    ['a key over two lines, in brackets', '{a\n b: 1}\n'],
    ['an escaped line end before an empty line', 'a: "x\\\n\n  y"\n'],
    ['an invalid tag handle', '%TAG ~x! tag:yaml.org,2002:\n---\na: 1\n'],
    ['an anchor with an unusual name', 'a: &x*y 1\n']
  ])('%s, which readers see differently, is refused', (_what, text) => {
    expect(() => readManifest(text)).toThrow(/^capsule\.yaml/)
  })

  interface Expected {
    fixture: string
    canonical_file: string
    capsule_id: string
    schema_valid: boolean
  }
  test.each(golden<Expected[]>('expected.json').map((one) => [one.fixture, one] as const))(
    'the fixture %s has its published identity, and fits the schema or not as published',
    (fixture, { canonical_file, capsule_id, schema_valid }) => {
      const manifest = readManifest(decodedManifest(readFileSync(join(fixtures, fixture, 'capsule.yaml'))))
      expect(canonicalJson(manifest, 'read')).toBe(readFileSync(join(fixtures, 'golden', canonical_file), 'utf8'))
      expect(manifestDigest(manifest, 'read')).toBe(capsule_id)
      const check = expect(() => checkManifest(manifest))
      if (schema_valid) check.not.toThrow()
      else check.toThrow(/^capsule\.yaml: /)
    }
  )
})

describe('.checksums', () => {
  interface PathCase {
    name: string
    files: { path: string; utf8: string }[]
    checksums_utf8: string
    checksums_digest: string
  }
  test.each(golden<PathCase[]>('checksum-path-cases.json').map((one) => [one.name, one] as const))(
    '%s is written as published, and read again',
    (_name, { files, checksums_utf8, checksums_digest }) => {
      const text = checksumsText(files.map(({ path, utf8 }) => textFile(path, utf8)))
      expect(text).toBe(checksums_utf8)
      expect(rootDigest(text)).toBe(checksums_digest)
      expect([...parsedChecksums(text).keys()].sort()).toEqual(files.map(({ path }) => path.normalize('NFC')).sort())
    }
  )

  const digest = 'a'.repeat(64)
  test.each([
    ['no line feed at the end', `sha256:${digest}  a`],
    ['an unknown algorithm', `sha512:${digest}  a\n`],
    ['digits in upper case', `sha256:${digest.toUpperCase()}  a\n`],
    ['one space', `sha256:${digest} a\n`],
    ['a carriage return', `sha256:${digest}  a\r\n`],
    ['a blank line', `sha256:${digest}  a\n\n`],
    ['an escape that is not allowed', `sha256:${digest}  a%20b\n`],
    ['an escape in lower case', `sha256:${digest}  a%5cb\n`],
    ['a name that is not normalized', `sha256:${digest}  e\u0301\n`],
    ['a name that occurs twice', `sha256:${digest}  a\nsha256:${digest}  a\n`]
  ])('with %s is refused by its line', (_what, text) => {
    expect(() => parsedChecksums(text)).toThrow(/^\.checksums, line \d: /)
  })
})

describe('canonical JSON', () => {
  test('sorts by UTF-16 units, writes numbers as ECMAScript does, and normalizes texts', () => {
    expect(canonicalJson({ '\u{1F600}': 1.0, '\uE000': -0, b: 1e-7, a: [1e21, 'e\u0301'] })).toBe(
      '{"a":[1e+21,"\u00e9"],"b":1e-7,"\u{1F600}":1,"\uE000":0}'
    )
  })

  test('a key such as __proto__ is a key like any other', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1},"constructor":2}'))).toBe(
      '{"__proto__":{"a":1},"constructor":2}'
    )
  })

  test.each<[string, unknown, string]>([
    ['an integer beyond 2^53 - 1', { a: [2 ** 53] }, '/a/0'],
    ['a number that is not finite', { a: Number.NaN }, '/a'],
    ['half of a character', { a: '\ud800' }, '/a'],
    ['half of a character in a key', { '\udc00': 1 }, '/'],
    ['two keys that normalize to one', { '\u00e9': 1, 'e\u0301': 2 }, '/\u00e9'],
    ['undefined in a list', [undefined], '/0'],
    ['a big integer', { a: 1n }, '/a'],
    ['a date', { 'a/b': new Date(0) }, '/a~1b']
  ])('refuses %s, and says where', (_what, value, path) => {
    const failed = () => canonicalJson(value)
    expect(failed).toThrow(CanonicalJsonError)
    expect(failed).toThrow(`${path}: `)
  })

  test('refuses nesting beyond 64 levels, and cycles', () => {
    const circle: unknown[] = []
    circle.push(circle)
    expect(() => canonicalJson(circle)).toThrow('nested deeper than 64')
  })
})
