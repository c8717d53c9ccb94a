// The same capsule gives the same bytes in every time zone and language, however the source is cut into pieces.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { build } from 'esbuild'
import { inPieces } from '../../capsule-format/pieces.js'
import { writeRoCrate } from '../../capsule-format/ro-crate.js'
import { inFolder, sealedSample } from './sample.js'

test('processes in different time zones and languages write the same archives', () =>
  inFolder(async (folder) => {
    const program = join(folder, 'written.cjs')
    await build({
      entryPoints: [join(import.meta.dirname, 'written-elsewhere.ts')],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile: program,
      // In parts, because tools/build/tests.mjs replaces the whole expression in this file too.
      define: { [`import.meta.${'dirname'}`]: JSON.stringify(import.meta.dirname) },
      logLevel: 'silent'
    })
    const written = (environment: Record<string, string>) =>
      execFileSync(process.execPath, [program], { encoding: 'utf8', env: { PATH: process.env.PATH, ...environment } })
    const here = written({ TZ: 'UTC', LANG: 'C' })
    // Identity, archive, crate. The identity never changes. Another version of the compressor may change the last two; exports
    // made before and after then differ, and the changelog has to mention it.
    expect(JSON.parse(here)).toEqual([
      'mqc:1:267277e743a65ed8200086ad25c255dc12a1b70955c3ba567f05a024a2ec005a',
      'df023ca46f2e22a9ca8f438289dd4531e260f24317936496dfa2c4383b618ae2',
      '7ee15138fcddef1c52fc985fee59ba606cc3f77f261ba668ec1ce10c76c0569f'
    ])
    expect(written({ TZ: 'Pacific/Auckland', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' })).toBe(here)
    expect(written({ TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8' })).toBe(here)
  }))

test('two exports of a capsule have the same bytes', async () => {
  const [one, other] = [await sealedSample(), await sealedSample()]
  expect(one.archive.equals(other.archive)).toBe(true)
  const crates = await Promise.all(
    [one, other].map(({ sealed }) => buffer(writeRoCrate({ ...sealed, envelope: null, publicKeyPem: null })))
  )
  expect(crates[0]!.equals(crates[1]!)).toBe(true)
})

test('the compressed pieces do not depend on how the source was cut', async () => {
  const whole = Buffer.alloc(300_000, 'abc')
  const cut = async (size: number): Promise<number[]> => {
    const source = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size)
    )
    const sizes: number[] = []
    const read: Buffer[] = []
    for await (const piece of inPieces(source)) {
      sizes.push(piece.length)
      read.push(Buffer.from(piece))
    }
    expect(Buffer.concat(read).equals(whole)).toBe(true)
    return sizes
  }
  expect(await cut(300_000)).toEqual([65_536, 65_536, 65_536, 65_536, 37_856])
  expect(await cut(777)).toEqual(await cut(300_000))
})
