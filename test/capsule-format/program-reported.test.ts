// What only a program states is never the service's evidence: manifest and attestation name it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { statement, verifyEnvelope } from '../../capsule-format/attestation.js'
import type { Manifest } from '../../capsule-format/manifest/manifest.js'
import { readPackage } from '../../capsule-format/package-reader.js'
import { verifyPackage } from '../../capsule-format/package-verification.js'
import { taskExecution } from '../../capsule-format/task-execution.js'
import { inFolder, publicKeyPem, publicTool, sealedSample, sealInput, textFile } from './sample.js'

const [task] = sealInput().tasks
const reported = { tasks: [{ ...task!, programReported: true }] }
const extensionOf = (manifest: string): Record<string, unknown> =>
  (JSON.parse(manifest) as Manifest).extensions!['quantum-job-service'] as Record<string, unknown>

describe('a result that a program reported', () => {
  test('is named by the sealed manifest and by what is signed, and every reader still reads the capsule', async () => {
    const { sealed, archive, envelope } = await sealedSample(reported)
    expect(extensionOf(sealed.manifest).program_reported).toEqual(['main'])
    expect(verifyEnvelope(envelope, publicKeyPem).predicate.program_reported).toEqual(['main'])
    const report = verifyPackage(await readPackage(archive), { envelope, publicKeyPem })
    expect(report).toMatchObject({ ok: true, authenticated: true })
    expect(report.checks.at(-1)!.detail).toMatch(/; the results of "main" are those that the programs reported$/)
    await inFolder((folder) => {
      const file = join(folder, 'bell.capsule')
      writeFileSync(file, archive)
      expect(publicTool('verify', file, '--id', sealed.capsuleDigest)).toMatchObject({ status: 0 })
    })
  })

  test('leaves the manifest and the statement of other capsules as they were', async () => {
    const { input, sealed, envelope } = await sealedSample()
    expect(extensionOf(sealed.manifest)).not.toHaveProperty('program_reported')
    expect(statement({ ...input, ...sealed })).not.toContain('program_reported')
    expect(verifyEnvelope(envelope, publicKeyPem).predicate).not.toHaveProperty('program_reported')
  })

  test.each<[string, object | null, { kind: string }, string, boolean]>([
    ['counts that its process reported', { count_source: 'program_reported' }, { kind: 'inline' }, 'qiskit', true],
    ['a value that it returned', { count_source: null }, { kind: 'script' }, 'cirq', true],
    ['a result without metadata', null, { kind: 'inline' }, 'marqov', true],
    ['counts of a circuit alone', { count_source: 'simulator_sampled' }, { kind: 'circuit' }, 'openqasm', false],
    ['counts of OpenQASM in a script', { count_source: 'simulator_sampled' }, { kind: 'script' }, 'openqasm', false],
    [
      'counts of a circuit it left',
      { count_source: 'simulator_sampled', executed_apart: true },
      { kind: 'inline' },
      'cirq',
      false
    ],
    ['counts of an earlier release', { count_source: 'simulator_sampled' }, { kind: 'inline' }, 'cirq', true],
    ['counts of a provider', { count_source: 'provider_counts' }, { kind: 'inline' }, 'qiskit', false]
  ])('is recognised: %s', (_, metadata, source, framework, expected) => {
    const json = (name: string, value: object) => textFile(`tasks/main/${name}`, JSON.stringify(value))
    const files = [
      json('job.json', { id: task!.jobId, provider: 'local', backend: 'aer', shots: 10, framework, source }),
      json('timing.json', { started_at: null, completed_at: null, actual_cost_usd: null }),
      json('backend.json', {}),
      json('result.json', { counts: { '0': 10 }, ...(metadata && { metadata }) })
    ]
    expect(taskExecution('main', files).programReported).toBe(expected)
  })
})
