// Packages are untrusted: anything but a plain capsule is refused by name, quickly, and without much memory.
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

describe('of the published fixtures', () => {
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

  test('the one with a credential is read as a draft with a warning that names the line', async () => {
    const { warnings } = await readPackage(packed('capsule_with_secrets'))
    expect(warnings).toEqual([
      expect.stringContaining('not sealed'),
      expect.stringMatching(/"capsule\.yaml", line 10 contains what looks like a credential/)
    ])
  })
})

describe('an entry name', () => {
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

  test('with a NUL is refused', async () => {
    expect(await refusal(crate({ name: 'capsule/a\u0000b', content: some }))).toMatch(/control character/)
    expect(await refusal(tarGzOf([manifest, paxHeader({ path: 'c/a\u0000b' }), { name: 'x', content: some }]))).toMatch(
      /NUL/
    )
  })

  test('that is not UTF-8 is refused', async () => {
    const name = Buffer.from([0x63, 0x2f, 0xff, 0xfe])
    expect(await refusal(draft({ name, content: some }))).toMatch(/UTF-8/)
    expect(await refusal(crate({ name, content: some }))).toMatch(/UTF-8/)
    expect(await refusal(crate({ name, content: some, says: { flags: 0 } }))).toMatch(/UTF-8/)
  })

  test.each([
    ['equal to', 'a', 'a', /occurs twice/],
    ['another case of', 'a', 'A', /would be one file/],
    ['another Unicode form of', '\u00e9', 'e\u0301', /would be one file|occurs twice/]
  ])('that is %s another is refused', async (_what, one, other, message) => {
    expect(await refusal(draft({ name: `c/${one}`, content: some }, { name: `c/${other}`, content: some }))).toMatch(
      message
    )
    expect(
      await refusal(crate({ name: `capsule/${one}`, content: some }, { name: `capsule/${other}`, content: some }))
    ).toMatch(message)
  })

  test('inside a file is refused', async () => {
    expect(await refusal(draft({ name: 'c/A/b', content: some }, { name: 'c/a', content: some }))).toMatch(
      /"A\/b" is inside "a", which is a file/
    )
    const deep = paxHeader({ path: `c/${'d/'.repeat(70)}x` })
    expect(await refusal(draft(deep, { name: 'x', content: some }))).toMatch(/64 folders deep/)
  })

  test('outside the one folder of the package is refused', async () => {
    expect(await refusal(draft({ name: 'd/x', content: some }))).toMatch(/exactly one folder/)
    expect(await refusal(tarGzOf([{ name: 'capsule.yaml', content: Buffer.from(MANIFEST) }]))).toMatch(
      /exactly one folder/
    )
    expect(await refusal(tarGzOf([{ name: 'c/x', content: some }]))).toMatch(/no capsule\.yaml/)
  })
})

describe('kinds of entries', () => {
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
    ['a file marked as a folder', { attributes: 0o040755 << 16 }, /a link, a device/],
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
    expect(await refusal(draft({ name: 'c/x', content }))).toMatch(`"x" is an archive itself (${kind})`)
    expect(await refusal(crate({ name: 'capsule/x', content }))).toMatch(`"x" is an archive itself (${kind})`)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['a plain tar', tarOf([manifest])],
    ['a gzip of something other than a tar', gzipSync('hello'.repeat(500))],
    ['a zip that is not a crate', zipOf([{ name: 'capsule/capsule.yaml', content: Buffer.from(MANIFEST) }])],
    ['a crate without a graph', zipOf([{ name: 'ro-crate-metadata.json', content: Buffer.from('[]') }])],
    ['the start of a zip', Buffer.from('PK\u0003\u0004')]
  ])('%s is refused', async (_what, bytes) => {
    expect(await refusal(bytes)).not.toBe('')
  })
})

describe('a decompression bomb', () => {
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

  test('of a gibibyte of zeros in a gzip is abandoned at the limit', async () => {
    expect(await refusal(await gzipOfZeros(1024))).toMatch(/inflates to more than/)
  })

  test('in an entry that states one byte and inflates to a gibibyte is abandoned at once', async () => {
    const content = Buffer.alloc(40 * 1024 * 1024)
    expect(await refusal(crate({ name: 'capsule/x', content, says: { size: 1 } }))).toMatch(
      /inflates to more than 1 bytes/
    )
    expect(await refusal(crate({ name: 'capsule/x', content }))).toMatch(/larger than 33554432 bytes/)
    expect(await refusal(tarGzOf([manifest, { name: 'c/x', content }]))).toMatch(/larger than 33554432 bytes/)
  })

  test('in an entry that states more bytes than it has is refused', async () => {
    expect(await refusal(draft({ name: 'c/x', content: some, size: 2 ** 32 }))).toMatch(/cut short/)
    expect(await refusal(draft({ name: 'c/x', content: some, size: '\u0080\u0000\u0000\u0001' }))).toMatch(/not octal/)
    expect(await refusal(crate({ name: 'capsule/x', content: some, says: { packed: 2 ** 31 } }))).not.toBe('')
    expect(await refusal(crate({ name: 'capsule/x', content: some, says: { size: 100 } }))).toMatch(/damaged/)
    expect(await refusal(crate({ name: 'capsule/x', content: some, says: { crc: 1 } }))).toMatch(/damaged/)
  })

  test('of overlapping entries is refused', async () => {
    const content = Buffer.alloc(10_000)
    const at = (name: string): ZipEntry => ({ name, local: { name: 'capsule/x' }, content, says: { offset: 0 } })
    const kernel = zipOf([{ name: 'capsule/x', content }, at('capsule/x')])
    expect(await refusal(kernel)).toMatch(/overlap/)
    expect(await refusal(zipOf([{ name: 'capsule/x', content }, at('capsule/y')]))).toMatch(
      /differs from the directory/
    )
  })

  test('that contains itself is refused as an archive within an archive', async () => {
    // A quine unpacks to bytes that begin as it does.
    const quine = gzipSync(tarOf([manifest]))
    expect(await refusal(draft({ name: 'c/r.gz', content: quine }))).toMatch(/is an archive itself/)
  })

  test('is stopped by the limits on entries and bytes of the whole archive', async () => {
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

  test('of headers without entries is stopped by the limit on entries', async () => {
    const many = Array.from({ length: 30_000 }, () => paxHeader({ comment: 'x' }, 'g'))
    expect(await refusal(tarGzOf([...many, manifest]))).toMatch(/more than 2000 entries/)
  })

  test('is not suspected in three state vectors that are nearly all zeros', async () => {
    const content = Buffer.alloc(16 * 1024 * 1024)
    const files = ['a', 'b', 'c'].map((task) => ({ name: `c/tasks/${task}/artifacts/state_vector.npy`, content }))
    expect((await readPackage(draft(...files))).files).toHaveLength(3)
  })
})

test('reading a package writes no file', async () => {
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
