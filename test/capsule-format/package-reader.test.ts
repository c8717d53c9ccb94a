// A package comes from anybody: what is not plainly a capsule is refused by name, soon, and without much memory.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from '@jest/globals'
import { packageLimits } from '../../capsule-format/archive/archive-entries.js'
import { readPackage } from '../../capsule-format/package-reader.js'
import { paxHeader, type TarEntry, tarGzOf, tarOf, type ZipEntry, zipOf } from './hostile-archives.js'
import { crate, draft, MANIFEST, manifest, refusal, refusedCheaply, some } from './refusals.js'
import { fixtures, inFolder, publicTool, sealedSample } from './sample.js'

afterEach(refusedCheaply)

describe('the published fixtures', () => {
  const published = JSON.parse(readFileSync(join(fixtures, 'golden/expected.json'), 'utf8')) as {
    fixture: string
    capsule_id: string
    checksums_digest: string | null
  }[]

  test.each(
    published.filter(({ checksums_digest }) => checksums_digest !== null).map((one) => [one.fixture, one] as const)
  )('%s, packed by the public tool, is read with its published identity', (fixture, { capsule_id, checksums_digest }) =>
    inFolder(async (folder) => {
      const file = join(folder, 'x.capsule')
      expect(publicTool('pack', join(fixtures, fixture), '-o', file)).toMatchObject({ status: 0 })
      expect(await readPackage(readFileSync(file))).toMatchObject({
        capsuleDigest: capsule_id,
        rootDigest: checksums_digest,
        warnings: []
      })
    })
  )

  const packed = (fixture: string) =>
    tarGzOf([{ name: 'c/capsule.yaml', content: readFileSync(join(fixtures, fixture, 'capsule.yaml')) }])

  test('the invalid one is refused', async () => {
    expect(await refusal(packed('invalid_capsule'))).toMatch(/^capsule\.yaml: /)
  })

  test('the one with a credential is read as the draft it is, and the line is told', async () => {
    const { warnings } = await readPackage(packed('capsule_with_secrets'))
    expect(warnings).toEqual([
      expect.stringContaining('not sealed'),
      expect.stringMatching(/"capsule\.yaml", line 10 holds what looks like a credential/)
    ])
  })
})

describe('names', () => {
  const bad: [string, RegExp][] = [
    ['../x', /leads out/],
    ['a/../../x', /leads out/],
    ['..\\x', /leads out/],
    ['a\\..\\..\\x', /leads out/],
    ['/abs', /absolute|empty segment/],
    ['C:\\x', /absolute/],
    ['\\\\server\\share', /absolute/],
    ['./x', /only a dot/],
    ['a//b', /empty segment/],
    ['a\u0007b', /control character/],
    ['\u2025', /leads out/],
    ['\uff0e\uff0e/x', /leads out/]
  ]
  test.each(bad)('%j is refused in a tar', async (name, message) => {
    expect(await refusal(draft({ name: `c/${name}`, content: some }))).toMatch(message)
  })

  test.each(bad)('%j is refused in a zip', async (name, message) => {
    expect(await refusal(crate({ name: `capsule/${name}`, content: some }))).toMatch(message)
    expect(await refusal(crate({ name, content: some }))).toMatch(message)
  })

  test('a NUL hides nothing', async () => {
    expect(await refusal(crate({ name: 'capsule/a\u0000b', content: some }))).toMatch(/control character/)
    expect(await refusal(tarGzOf([manifest, paxHeader({ path: 'c/a\u0000b' }), { name: 'x', content: some }]))).toMatch(
      /NUL/
    )
  })

  test('bytes that are no UTF-8 are no name', async () => {
    const name = Buffer.from([0x63, 0x2f, 0xff, 0xfe])
    expect(await refusal(draft({ name, content: some }))).toMatch(/UTF-8/)
    expect(await refusal(crate({ name, content: some }))).toMatch(/UTF-8/)
    expect(await refusal(crate({ name, content: some, says: { flags: 0 } }))).toMatch(/UTF-8/)
  })

  test.each([
    ['the same', 'a', 'a', /stands twice/],
    ['in another case', 'a', 'A', /would be one file/],
    ['in another Unicode form', '\u00e9', 'e\u0301', /would be one file|stands twice/]
  ])('two that are %s are refused', async (_what, one, other, message) => {
    expect(await refusal(draft({ name: `c/${one}`, content: some }, { name: `c/${other}`, content: some }))).toMatch(
      message
    )
    expect(
      await refusal(crate({ name: `capsule/${one}`, content: some }, { name: `capsule/${other}`, content: some }))
    ).toMatch(message)
  })

  test('a file within a file is refused', async () => {
    expect(await refusal(draft({ name: 'c/A/b', content: some }, { name: 'c/a', content: some }))).toMatch(
      /"A\/b" lies in "a", which is a file/
    )
    const deep = paxHeader({ path: `c/${'d/'.repeat(70)}x` })
    expect(await refusal(draft(deep, { name: 'x', content: some }))).toMatch(/64 folders deep/)
  })

  test('two folders, or none, are no package', async () => {
    expect(await refusal(draft({ name: 'd/x', content: some }))).toMatch(/exactly one folder/)
    expect(await refusal(tarGzOf([{ name: 'capsule.yaml', content: Buffer.from(MANIFEST) }]))).toMatch(
      /exactly one folder/
    )
    expect(await refusal(tarGzOf([{ name: 'c/x', content: some }]))).toMatch(/no capsule\.yaml/)
  })
})

describe('kinds', () => {
  test.each([
    ['1', /a hard link/],
    ['2', /a symbolic link/],
    ['3', /a character device/],
    ['4', /a block device/],
    ['6', /a FIFO/],
    ['S', /a sparse file/],
    ['K', /a link with a long name/],
    ['Z', /of an unknown kind/]
  ])('type %s of a tar is refused', async (type, message) => {
    expect(await refusal(draft({ name: 'c/x', type, link: '/etc/passwd' }))).toMatch(message)
  })

  test.each([
    ['a symbolic link', { attributes: 0o120777 << 16 }, /a link, a device/],
    ['a device', { attributes: 0o020666 << 16 }, /a link, a device/],
    ['a folder that is none', { attributes: 0o040755 << 16 }, /a link, a device/],
    ['an encrypted file', { flags: 0x801 }, /encrypted/],
    ['a file with a hidden directory', { flags: 0x2800 }, /encrypted/],
    ['another method', { method: 12 }, /method 12/]
  ])('%s in a zip is refused', async (_what, says, message) => {
    expect(await refusal(crate({ name: 'capsule/x', content: some, says }))).toMatch(message)
  })

  test.each([
    ['zip', zipOf([{ name: 'x', content: some }])],
    ['gzip', gzipSync('x')],
    ['tar', tarOf([{ name: 'x', content: some }])]
  ])('an archive within the archive is refused (%s)', async (kind, content) => {
    expect(await refusal(draft({ name: 'c/x', content }))).toMatch(`"x" is itself an archive (${kind})`)
    expect(await refusal(crate({ name: 'capsule/x', content }))).toMatch(`"x" is itself an archive (${kind})`)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['a plain tar', tarOf([manifest])],
    ['a gzip of no tar', gzipSync('hello'.repeat(500))],
    ['a zip that is no crate', zipOf([{ name: 'capsule/capsule.yaml', content: Buffer.from(MANIFEST) }])],
    ['a crate without a graph', zipOf([{ name: 'ro-crate-metadata.json', content: Buffer.from('[]') }])],
    ['the start of a zip', Buffer.from('PK\u0003\u0004')]
  ])('%s is refused', async (_what, bytes) => {
    expect(await refusal(bytes)).not.toBe('')
  })
})

describe('bombs', () => {
  const zeros = Buffer.alloc(1024 * 1024)

  async function gzipOfZeros(mebibytes: number): Promise<Buffer> {
    const gzip = createGzip({ level: 9 })
    const parts: Buffer[] = []
    gzip.on('data', (part: Buffer) => parts.push(part))
    for (let count = 0; count < mebibytes; count++)
      if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve))
    await new Promise<void>((resolve) => gzip.once('end', resolve).end())
    return Buffer.concat(parts)
  }

  test('a gzip of a gibibyte of zeros is left as soon as it is too much', async () => {
    expect(await refusal(await gzipOfZeros(1024))).toMatch(/inflates to more than/)
  })

  test('an entry that says one byte and holds a gibibyte is left at once', async () => {
    const content = Buffer.alloc(40 * 1024 * 1024)
    expect(await refusal(crate({ name: 'capsule/x', content, says: { size: 1 } }))).toMatch(
      /inflates to more than 1 bytes/
    )
    expect(await refusal(crate({ name: 'capsule/x', content }))).toMatch(/larger than 33554432 bytes/)
    expect(await refusal(tarGzOf([manifest, { name: 'c/x', content }]))).toMatch(/larger than 33554432 bytes/)
  })

  test('an entry that says more than there is, is cut short', async () => {
    expect(await refusal(draft({ name: 'c/x', content: some, size: 2 ** 32 }))).toMatch(/cut short/)
    expect(await refusal(draft({ name: 'c/x', content: some, size: '\u0080\u0000\u0000\u0001' }))).toMatch(/not octal/)
    expect(await refusal(crate({ name: 'capsule/x', content: some, says: { packed: 2 ** 31 } }))).not.toBe('')
    expect(await refusal(crate({ name: 'capsule/x', content: some, says: { size: 100 } }))).toMatch(/damaged/)
    expect(await refusal(crate({ name: 'capsule/x', content: some, says: { crc: 1 } }))).toMatch(/damaged/)
  })

  test('entries that lie over each other are refused', async () => {
    const content = Buffer.alloc(10_000)
    const at = (name: string): ZipEntry => ({ name, local: { name: 'capsule/x' }, content, says: { offset: 0 } })
    const kernel = zipOf([{ name: 'capsule/x', content }, at('capsule/x')])
    expect(await refusal(kernel)).toMatch(/lie over each other/)
    expect(await refusal(zipOf([{ name: 'capsule/x', content }, at('capsule/y')]))).toMatch(/disagree/)
  })

  test('an archive that holds itself is an archive within an archive', async () => {
    // Whatever a quine unpacks to begins as it does itself.
    const quine = gzipSync(tarOf([manifest]))
    expect(await refusal(draft({ name: 'c/r.gz', content: quine }))).toMatch(/is itself an archive/)
  })

  test('entries and bytes are counted over the whole', async () => {
    const many = Array.from({ length: 2001 }, (_, index): TarEntry => ({ name: `c/${index}`, content: some }))
    expect(await refusal(draft(...many))).toMatch(/more than 2000 entries/)
    const folders = many.map(({ name }): TarEntry => ({ name: `${name as string}/`, type: '5' }))
    expect(await refusal(draft(...folders))).toMatch(/more than 2000 entries/)
    const zipped = many.map(({ name }): ZipEntry => ({ name: name as string, content: some }))
    expect(await refusal(crate(...zipped))).toMatch(/more than 2000 entries/)
    const limits = { ...packageLimits, totalBytes: 1000 }
    const two = [1, 2].map((index) => ({ name: `c/${index}`, content: Buffer.alloc(600, index) }))
    await expect(readPackage(draft(...two), limits)).rejects.toMatchObject({
      message: expect.stringMatching(/more than 1000/)
    })
  })

  test('headers of nothing are counted', async () => {
    const many = Array.from({ length: 30_000 }, () => paxHeader({ comment: 'x' }, 'g'))
    expect(await refusal(tarGzOf([...many, manifest]))).toMatch(/more than 2000 entries/)
  })

  test('the state vectors of three tasks, which are all zeros but for two numbers each, are none', async () => {
    const content = Buffer.alloc(16 * 1024 * 1024)
    const files = ['a', 'b', 'c'].map((task) => ({ name: `c/tasks/${task}/artifacts/state_vector.npy`, content }))
    expect((await readPackage(draft(...files))).files).toHaveLength(3)
  })
})

test('nothing that is read is written anywhere', async () => {
  const { archive } = await sealedSample()
  await inFolder(async (folder) => {
    const here = process.cwd()
    process.chdir(folder)
    try {
      await readPackage(archive)
      await readPackage(crate({ name: 'capsule/x', content: some }))
    } finally {
      process.chdir(here)
    }
    expect(readdirSync(folder)).toEqual([])
  })
})
