// Public tools accept the RO-Crate of a capsule, and the capsule in it is intact.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { readPackage } from '../../capsule-format/package-reader.js'
import { verifyPackage } from '../../capsule-format/package-verification.js'
import { writeRoCrate } from '../../capsule-format/ro-crate.js'
import { longTest } from '../support/lane.js'
import { inFolder, publicKeyPem, publicTool, pythonAnswer, sealedSample } from './sample.js'

async function crateOf(sample: Awaited<ReturnType<typeof sealedSample>>): Promise<Buffer> {
  return buffer(writeRoCrate({ ...sample.sealed, envelope: sample.envelope, publicKeyPem }))
}

interface Answer {
  entities: Record<string, string>
  issues: Record<string, string[]>
}

longTest(
  'the public reader finds every file and run, and the public validator reports no required fix',
  async () => {
    const sample = await sealedSample()
    await inFolder(async (folder) => {
      const file = join(folder, 'x.zip')
      writeFileSync(file, await crateOf(sample))
      const { entities, issues } = pythonAnswer('check_crate.py', file, join(folder, 'crate')) as Answer
      expect(entities).toMatchObject({
        './': 'Dataset',
        'capsule/capsule.yaml': 'File',
        'capsule/.checksums': 'File',
        'capsule/definition.json': 'File',
        'capsule/tasks/main/result.json': 'File',
        'attestation.dsse.json': 'File',
        '#backend-aer': 'SoftwareApplication',
        '#run-0196b6a4-3f5e-7d2a-9d0b-5d6f1c2e3a4b': 'CreateAction'
      })
      expect(Object.values(entities).filter((type) => type === 'File')).toHaveLength(sample.sealed.files.length + 4)
      expect(Object.keys(issues)).toEqual(['ro-crate-1.1', 'process-run-crate-0.5'])
      for (const found of Object.values(issues))
        expect(found.filter((issue) => issue.startsWith('REQUIRED'))).toEqual([])
      // The folder in it is the capsule itself.
      const verified = publicTool('verify', join(folder, 'crate', 'capsule'), '--id', sample.sealed.capsuleDigest)
      expect(verified).toMatchObject({ status: 0 })
    })
  },
  120_000
)

test('is read back with its attestation, which is valid', async () => {
  const sample = await sealedSample()
  const read = await readPackage(await crateOf(sample))
  expect(read).toMatchObject({ kind: 'rocrate', warnings: [], envelope: sample.envelope, publicKeyPem })
  expect(read.files).toHaveLength(sample.sealed.files.length)
  // The key in the package proves nothing; a key that the caller provides does.
  expect(verifyPackage(read)).toMatchObject({ ok: true, authenticated: false })
  expect(verifyPackage(read, { publicKeyPem })).toMatchObject({ ok: true, authenticated: true })
})

test('is refused after any of 300 one-bit changes, or read unchanged', async () => {
  const sample = await sealedSample()
  const crate = await crateOf(sample)
  for (let turn = 0; turn < 300; turn++) {
    const damaged = Buffer.from(crate)
    damaged[Math.floor((turn * crate.length) / 300)]! ^= 1 << (turn % 8)
    const read = await readPackage(damaged).catch((error: { code?: unknown }) => {
      expect(error.code).toBe('validation_error')
      return null
    })
    if (read)
      expect(read).toMatchObject({ capsuleDigest: sample.sealed.capsuleDigest, rootDigest: sample.sealed.rootDigest })
  }
})

test('a draft is exported as a crate without attestation', async () => {
  const { sealed } = await sealedSample()
  const manifest = JSON.stringify({ version: '1.0.0', name: 'x', lifecycle_state: 'draft' })
  const crate = await buffer(
    writeRoCrate({ manifest, checksums: null, files: sealed.files, envelope: null, publicKeyPem: null })
  )
  expect(await readPackage(crate)).toMatchObject({ kind: 'rocrate', envelope: null, rootDigest: null })
})

test('other files of a crate are left out with a warning', async () => {
  const sample = await sealedSample()
  const crate = await crateOf(sample)
  await inFolder(async (folder) => {
    const file = join(folder, 'x.zip')
    writeFileSync(file, crate)
    const added = pythonAnswer('add_to_zip.py', file, 'ro-crate-preview.html') as string
    const { readFileSync } = await import('node:fs')
    expect((await readPackage(readFileSync(added))).warnings).toEqual([
      '"ro-crate-preview.html" does not belong to the capsule and was left out.'
    ])
  })
})
