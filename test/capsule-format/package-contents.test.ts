// The content of a package is compared with its digests, and its manifest is read as one value or not at all.
import { afterEach, describe, expect, test } from '@jest/globals'
import { checksumsText, rootDigest, sha256 } from '../../capsule-format/checksums.js'
import { readPackage } from '../../capsule-format/package-reader.js'
import { tarGzOf } from './hostile-archives.js'
import { MANIFEST, refusal, refusedCheaply } from './refusals.js'
import { textFile } from './sample.js'

afterEach(refusedCheaply)

describe('a package whose digests', () => {
  const sealed = (checksums: string, stated: string, ...files: { name: string; content: Buffer }[]) =>
    tarGzOf([
      {
        name: 'c/capsule.yaml',
        content: Buffer.from(
          JSON.stringify({
            version: '1.0.0',
            name: 'x',
            lifecycle_state: 'sealed',
            requirements: { paradigm: ['classical'], max_qubit_count: 0 },
            checksums_digest: stated,
            sealed_at: '2026-01-01T00:00:00Z',
            sealed_by: 'x'
          })
        )
      },
      { name: 'c/.checksums', content: Buffer.from(checksums) },
      ...files.map(({ name, content }) => ({ name: `c/${name}`, content }))
    ])
  const file = textFile('a/b.txt', 'content')
  const text = checksumsText([file])

  test('match is read', async () => {
    expect(await readPackage(sealed(text, rootDigest(text), file))).toMatchObject({
      rootDigest: rootDigest(text),
      warnings: []
    })
  })

  test.each([
    [
      'a changed file',
      sealed(text, rootDigest(text), textFile('a/b.txt', 'Content')),
      `entry "a/b.txt": its digest is ${sha256('Content')}`
    ],
    ['a missing file', sealed(text, rootDigest(text)), 'entry "a/b.txt": listed in .checksums but missing'],
    ['an extra file', sealed(text, rootDigest(text), file, textFile('c', '')), 'entry "c": not listed'],
    ['different checksums', sealed(`${text}\n`, rootDigest(text), file), '.checksums: its digest is'],
    ['checksums of another form', sealed('[]', rootDigest('[]'), file), '.checksums: must be lines'],
    ['no checksums', draftWith(rootDigest(text)), '.checksums is missing']
  ])('%s is refused by name', async (_what, bytes, message) => {
    expect(await refusal(bytes)).toContain(message)
  })

  test('have the older form, a mapping, is read', async () => {
    const older = `a/b.txt: sha256:${sha256('content')}\n`
    expect(await readPackage(sealed(older, rootDigest(older), file))).toMatchObject({ checksums: older })
    const wrong = `a/b.txt: sha256:${sha256('else')}\n`
    expect(await refusal(sealed(wrong, rootDigest(wrong), file))).toContain('entry "a/b.txt": its digest is')
  })

  function draftWith(digest: string): Buffer {
    return tarGzOf([{ name: 'c/capsule.yaml', content: Buffer.from(`${MANIFEST}checksums_digest: ${digest}\n`) }])
  }
})

describe('manifests', () => {
  const withManifest = (text: string | Buffer) =>
    tarGzOf([{ name: 'c/capsule.yaml', content: Buffer.from(text as string) }])
  const n = 100_000

  test.each([
    ['an expanding alias', `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n${MANIFEST}`, /alias/],
    ['code as a tag', `${MANIFEST}x: !!js/function "function(){}"\n`, /tag/],
    ['a tag of its own', `${MANIFEST}x: !shell ls\n`, /tag/],
    ['a merge', `${MANIFEST}b: &b {c: 1}\n<<: *b\n`, /alias/],
    ['lists 100,000 deep', '['.repeat(n), /more than 80000 tokens/],
    ['lists 70,000 deep', '['.repeat(0.7 * n), /nested deeper/],
    ['mappings 12,000 deep', '{a: '.repeat(0.12 * n), /nested deeper/],
    ['blocks 35,000 deep', '- '.repeat(0.35 * n), /nested deeper/],
    ['keys 35,000 deep', '? '.repeat(0.35 * n), /nested deeper/],
    ['65 levels', `${MANIFEST}x: ${'['.repeat(65)}${']'.repeat(65)}\n`, /nested deeper than 64/],
    ['a key twice', `${MANIFEST}name: b\n`, /occurs twice/],
    ['two documents', `${MANIFEST}---\n${MANIFEST}`, /exactly one document/],
    ['256 KiB of text', `${MANIFEST}x: ${'y'.repeat(256 * 1024)}\n`, /larger than/],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0x3a, 0xff]), /UTF-8/],
    [
      '10,000 keys',
      `${MANIFEST}${Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join('\n')}\nk1: 2\n`,
      /occurs twice/
    ],
    ['70,000 quotes', `${MANIFEST}x: ${'"a" '.repeat(0.35 * n)}`, /line 4/],
    ['10,000 anchors of one name', `${MANIFEST}x: [${'&a 1,'.repeat(0.1 * n)}*a]`, /alias/]
  ])('%s is refused', async (_what, text, message) => {
    expect(await refusal(withManifest(text))).toMatch(message)
  })

  test('a key such as __proto__ stays a key', async () => {
    const { manifest } = await readPackage(withManifest(`${MANIFEST}__proto__: {polluted: 1}\nconstructor: x\n`))
    expect(Object.keys(manifest)).toContain('__proto__')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(manifest.polluted).toBeUndefined()
  })
})
