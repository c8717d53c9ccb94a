// Two readers of one archive must not see two packages: anything that could be read differently is refused, and what honest
// programs write is read.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from '@jest/globals'
import { readPackage } from '../../capsule-format/package-reader.js'
import {
  END_OF_TAR,
  extraField,
  paxHeader,
  type TarEntry,
  tarGzOf,
  tarOf,
  type ZipEntry,
  zipOf
} from './hostile-archives.js'
import { CRATE, crate, draft, manifest, refusal, refusedCheaply, some } from './refusals.js'
import { inFolder, publicTool, pythonAnswer, sealedSample } from './sample.js'

afterEach(refusedCheaply)

/** A PAX header with exactly this text. */
const pax = (text: string): TarEntry => ({ name: 'PaxHeader', type: 'x', content: Buffer.from(text) })

/** Entries before and after zeros. */
const gap = (zeros: number): Buffer =>
  gzipSync(Buffer.concat([tarOf([manifest], Buffer.alloc(zeros)), tarOf([{ name: 'c/x', content: some }])]))

describe('a tar', () => {
  test.each([
    [
      'an entry behind the end',
      tarGzOf([manifest], Buffer.concat([END_OF_TAR, tarOf([{ name: 'c/y', content: some }])])),
      /after its end/
    ],
    ['no end', tarGzOf([manifest], Buffer.alloc(0)), /cut short/],
    ['bytes after the gzip', Buffer.concat([draft(), some]), /extra bytes|damaged/],
    ['a gzip cut short', draft().subarray(0, 60), /damaged or cut short/],
    ['a wrong sum', gzipSync(Buffer.concat([Buffer.from('x'), tarOf([manifest]).subarray(1)])), /damaged/],
    [
      'two names for one entry',
      tarGzOf([paxHeader({ path: 'c/a' }), paxHeader({ path: 'c/b' }), manifest]),
      /two extended headers/
    ],
    ['a size in an extended header', tarGzOf([paxHeader({ size: '1' }), manifest]), /sets size/],
    ['a name for all entries', tarGzOf([paxHeader({ path: 'c/a' }, 'g'), manifest]), /sets path/],
    ['a sparse file', tarGzOf([paxHeader({ 'GNU.sparse.name': 'c/a' }), manifest]), /sets GNU\.sparse/],
    [
      'a damaged extended header',
      tarGzOf([{ name: 'p', type: 'x', content: Buffer.from('99 path=a\n') }, manifest]),
      /damaged/
    ],
    ['a folder with content', draft({ name: 'c/d/', type: '5', content: some }), /a folder with content/],
    ['a file with the name of a folder', draft({ name: 'c/d/' }), /empty segment/],
    [
      'two headers that are about one entry',
      tarGzOf([manifest, paxHeader({ path: 'c/a' }), paxHeader({ comment: 'b' }), { name: 'c/x', content: some }]),
      /two extended headers/
    ],
    [
      'a header about all entries between one and its entry',
      tarGzOf([manifest, paxHeader({ path: 'c/a' }), paxHeader({ comment: 'b' }, 'g'), { name: 'c/x', content: some }]),
      /two extended headers/
    ],
    ['a header without an entry', tarGzOf([manifest, paxHeader({ comment: 'b' })]), /after its end/],
    ['a path given twice', draft(pax('12 path=c/a\n12 path=c/b\n'), { name: 'c/x', content: some }), /sets path/],
    ['a length in another base', draft(pax('0xd path=c/a\n'), { name: 'c/x', content: some }), /damaged/],
    ['a length with an exponent', draft(pax('12e0 path=c\n'), { name: 'c/x', content: some }), /damaged/],
    ['a length of zero', draft(pax('0 path=c/a\n'), { name: 'c/x', content: some }), /damaged/],
    ['a length beyond the header', draft(pax('13 path=c/a\n'), { name: 'c/x', content: some }), /damaged/],
    ['another length for one reader', draft(paxHeader({ 'SCHILY.realsize': '1' }), { name: 'c/x' }), /sets SCHILY/],
    ['a link in an extended header', draft(paxHeader({ linkpath: '/etc' }), { name: 'c/x' }), /sets linkpath/],
    ['names in another alphabet', draft(paxHeader({ hdrcharset: 'BINARY' }), { name: 'c/x' }), /sets hdrcharset/],
    [
      'a name in two parts under the mark of GNU',
      draft({ name: 'x', prefix: 'c', content: some, magic: 'ustar  \u0000' }),
      /splits a name into two parts/
    ],
    ['one block of zeros, then more', gap(512), /after its end/],
    ['zeros enough for an end, then more', gap(1024), /after its end/],
    ['a second archive after the first', Buffer.concat([draft(), draft()]), /after its end/],
    ['zeros after the gzip', Buffer.concat([draft(), Buffer.alloc(512)]), /extra bytes|damaged/]
  ])('with %s is refused', async (_what, bytes, message) => {
    expect(await refusal(bytes)).toMatch(message)
  })

  test('folders, PAX times and GNU names are read', async () => {
    const long = `c/${'x'.repeat(120)}`
    const read = await readPackage(
      tarGzOf([
        { name: 'c/', type: '5' },
        paxHeader({ mtime: '1.5', comment: 'x' }, 'g'),
        manifest,
        { name: '././@LongLink', type: 'L', content: Buffer.from(`${long}\u0000`) },
        { name: 'c/x', content: some, magic: 'ustar  \u0000' }
      ])
    )
    expect(read.files.map(({ name }) => name)).toEqual(['x'.repeat(120)])
  })
})

describe('a zip', () => {
  const other = { name: 'capsule/x', content: some }
  const unicodePath = (name: string) => extraField(0x7075, Buffer.concat([Buffer.alloc(5, 1), Buffer.from(name)]))
  const descriptor = (entry: ZipEntry, local: ZipEntry['local'] = {}, behind = Buffer.alloc(0)) =>
    crate({ ...entry, says: { flags: 0x808 }, local, behind })
  const locator = Buffer.concat([Buffer.from('PK\u0006\u0007'), Buffer.alloc(16)])

  test.each([
    ['another name before the entry', crate({ ...other, local: { name: 'capsule/y' } }), /differs from the directory/],
    ['another method', crate({ ...other, local: { method: 0 } }), /differs from the directory/],
    ['another size', crate({ ...other, local: { size: 3 } }), /differs from the directory/],
    ['another packed size', crate({ ...other, local: { packed: 3 } }), /differs from the directory/],
    ['another CRC', crate({ ...other, local: { crc: 3 } }), /differs from the directory/],
    [
      'an entry that is encrypted for one reader',
      crate({ ...other, local: { flags: 0x801 } }),
      /differs from the directory/
    ],
    ['a name in another alphabet', crate({ ...other, local: { flags: 0 } }), /differs from the directory/],
    ['a name in an extra field', crate({ ...other, extra: unicodePath('capsule/y') }), /another name/],
    [
      'a name in an extra field of the header',
      crate({ ...other, local: { extra: unicodePath('../y') } }),
      /another name/
    ],
    [
      'a header that no directory names',
      crate({ ...other, before: zipOf([other]).subarray(0, 50) }),
      /belong to no entry/
    ],
    ['bytes before all entries', zipOf([{ ...other, before: Buffer.from('PK\u0003\u0004') }, ...CRATE]), /beginning/],
    ['another zip before it', Buffer.concat([crate(other), crate()]), /damaged/],
    ['bytes before the directory', zipOf([...CRATE, other], { beforeDirectory: some }), /belong to no entry/],
    ['bytes after the directory', zipOf([...CRATE, other], { beforeEnd: some }), /a different directory/],
    ['zip64 numbers for some readers', zipOf([...CRATE, other], { beforeEnd: locator }), /zip64/],
    ['zip64 numbers in a comment', zipOf([...CRATE, { ...other, comment: locator }]), /zip64/],
    ['another size of the directory', zipOf([...CRATE, other], { bytes: 40 }), /a different directory/],
    [
      'fewer entries than it has',
      zipOf([...CRATE, other, { ...other, name: 'capsule/z' }], { count: 3 }),
      /a different directory/
    ],
    ['more entries than it has', zipOf([...CRATE, other], { count: 4 }), /damaged/],
    ['bytes after its end', Buffer.concat([crate(other), some]), /damaged/],
    [
      'a second end in its comment',
      zipOf([...CRATE, other], { comment: crate().subarray(-22) }),
      /another directory|damaged/
    ],
    ['a folder by its attributes alone', crate({ ...other, says: { attributes: 0x10 } }), /a link, a device/],
    ['announced sizes that do not follow the entry', descriptor(other), /belong to no entry/],
    ['other sizes after an entry', descriptor(other, {}, Buffer.alloc(12, 1)), /belong to no entry/],
    ['other sizes before an entry that has them after it', descriptor(other, { size: 3 }), /differs from the directory/]
  ])('with %s is refused', async (_what, bytes, message) => {
    expect(await refusal(bytes)).toMatch(message)
  })
})

describe('archives of honest programs are read', () => {
  test('GNU and PAX tars, gzip in several members, zips that were streamed, or made for large files', () =>
    inFolder(async (folder) => {
      const { sealed, archive } = await sealedSample()
      writeFileSync(join(folder, 'x.capsule'), archive)
      expect(publicTool('unpack', join(folder, 'x.capsule'), '-o', join(folder, 'unpacked'))).toMatchObject({
        status: 0
      })
      const archives = pythonAnswer('other_writers.py', join(folder, 'unpacked'), join(folder, 'packed')) as string[]
      expect(archives).toHaveLength(9)
      for (const file of archives) {
        const read = await readPackage(readFileSync(file)).catch((error: Error) => error.message)
        expect([file, read]).toEqual([
          file,
          expect.objectContaining({ capsuleDigest: sealed.capsuleDigest, warnings: [] })
        ])
      }
    }))
})
