// The public tools accept what is sealed here, and refuse any later change.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { archiveName, writeCapsuleArchive } from '../../capsule-format/archive/capsule-archive.js'
import { draftPackage, sealPackage } from '../../capsule-format/package.js'
import { readPackage } from '../../capsule-format/package-reader.js'
import { longTest } from '../support/lane.js'
import { inFolder, publicTool, pythonAnswer, sealedSample, sealInput, textFile } from './sample.js'

describe('a sealed package', () => {
  test('passes the public verifier with its identity, and its manifest passes the public schema', async () => {
    const { sealed, archive } = await sealedSample()
    await inFolder((folder) => {
      const file = join(folder, 'x.capsule')
      writeFileSync(file, archive)
      const verified = publicTool('verify', file, '--id', sealed.capsuleDigest, '--json')
      expect(JSON.parse(verified.stdout)).toMatchObject({
        status: 'pass',
        manifest_authenticated: true,
        payload_digest: sealed.rootDigest,
        capsule_id: sealed.capsuleDigest,
        checksums: { format: 'normative', extra: [], missing: [], mismatched: [] }
      })
      expect(verified.status).toBe(0)
      expect(publicTool('unpack', file, '-o', join(folder, 'out')).status).toBe(0)
      const [name] = readdirSync(join(folder, 'out'))
      expect(publicTool('validate', join(folder, 'out', name!))).toMatchObject({ status: 0 })
    })
  })

  longTest(
    'fails the public verifier after any of 100 one-bit changes in its files, and of 100 in the archive',
    async () => {
      const { sealed, archive } = await sealedSample()
      await inFolder((folder) => {
        const file = join(folder, 'x.capsule')
        writeFileSync(file, archive)
        const answer = pythonAnswer('tampered.py', file, sealed.capsuleDigest, '100', '8') as Record<string, unknown>
        expect(answer).toMatchObject({ passed: [], files: 9 })
        // Of about 4,000 bytes, only the ten of gzip's header carry no content.
        expect(answer.same).toBeLessThan(5)
      })
    },
    120_000
  )

  test('is refused after any of 300 one-bit changes, or read unchanged', async () => {
    const { sealed, archive } = await sealedSample()
    let same = 0
    for (let turn = 0; turn < 300; turn++) {
      const damaged = Buffer.from(archive)
      damaged[Math.floor((turn * archive.length) / 300)]! ^= 1 << (turn % 8)
      const read = await readPackage(damaged).catch((error: { code?: unknown }) => {
        expect(error.code).toBe('validation_error')
        return null
      })
      if (read === null) continue
      same++
      expect(read).toMatchObject({ capsuleDigest: sealed.capsuleDigest, rootDigest: sealed.rootDigest })
    }
    expect(same).toBeLessThan(5)
  })

  test('is read back byte for byte, including large integers in the definition', async () => {
    const { input, sealed, archive } = await sealedSample()
    const read = await readPackage(archive)
    expect(read).toMatchObject({
      kind: 'capsule',
      warnings: [],
      manifestText: sealed.manifest,
      checksums: sealed.checksums
    })
    const contents = (files: { name: string; content: Buffer }[]) =>
      Object.fromEntries(files.map(({ name, content }) => [name, content.toString('base64')]))
    expect(contents(read.files)).toEqual(contents(sealed.files))
    expect(read.files.find(({ name }) => name === 'definition.json')!.content.toString()).toBe(input.definition)
  })

  test('states the machine, tolerance and cost of the evidence', async () => {
    const [task] = sealInput().tasks
    const { manifest } = await sealPackage(
      sealInput({ tasks: [{ ...task!, hardware: true }], margin: 0.1, exitMessage: 'done' })
    )
    expect(JSON.parse(manifest)).toMatchObject({
      lifecycle_state: 'sealed',
      requirements: { paradigm: ['gate-based'], max_qubit_count: 2, gate_set: ['cx', 'h'] },
      exit_code: 0,
      exit_message: 'done',
      actual_cost_usd: 0.000001,
      task_executions: [
        {
          result_type: 'probabilistic',
          verification_settings: { epsilon: 0.1, epsilon_drift: 0.1, tolerance_regime: 'calibration_drift' }
        }
      ]
    })
  })

  test('does not depend on the order of its files', async () => {
    const { archive } = await sealedSample()
    const turned = await sealedSample({ files: [...sealInput().files].reverse() })
    expect(turned.archive.equals(archive)).toBe(true)
  })

  test.each<[string, Parameters<typeof sealInput>[0], RegExp]>([
    [
      'a credential, by file and line',
      { files: [textFile('a.py', `x = 1\nt = "ghp_${'a'.repeat(36)}"\n`)] },
      /"a\.py":2 \(a GitHub token\)/
    ],
    ['a name that leads out', { files: [textFile('tasks/../x', '')] }, /"tasks\/\.\.\/x"/],
    ['the name of a control file', { files: [textFile('capsule.yaml', '')] }, /reserved for the package/],
    ['names that differ only in case', { files: [textFile('a/B', ''), textFile('a/b', '')] }, /"a\/B" and "a\/b"/],
    [
      'a definition among the evidence',
      { files: [textFile('definition.json', '')] },
      /"definition\.json" occurs twice/
    ],
    [
      'too much, naming the largest',
      { files: [{ name: 'big', content: Buffer.alloc(61 * 1024 * 1024) }] },
      /"big" \(63963136 bytes\)/
    ],
    ['a capsule without a name', { name: '' }, /capsule\.yaml: name /]
  ])('is not made of %s', async (_what, changes, message) => {
    await expect(sealPackage(sealInput(changes))).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(message)
    })
  })
})

test('a draft is exported without digests, and both the public tool and this reader report it', async () => {
  const draft = draftPackage(sealInput())
  const archive = await buffer(writeCapsuleArchive('draft', draft))
  const read = await readPackage(archive)
  expect(read).toMatchObject({ checksums: null, rootDigest: null, manifest: { lifecycle_state: 'draft' } })
  expect(read.warnings).toEqual([expect.stringContaining('not sealed')])
})

test.each([
  ['Bell \u2728 pair!', 'bell-pair'],
  ['\u2728', 'capsule'],
  ['../../etc/passwd', 'etc-passwd'],
  ['con', 'capsule-con'],
  ['\u00c9tat', 'etat'],
  ['M\u00fcller-Brown na\u0308chste', 'muller-brown-nachste'],
  ['x'.repeat(200), 'x'.repeat(60)]
])('the folder of a capsule named %j is %s', (name, folder) => expect(archiveName(name)).toBe(folder))
