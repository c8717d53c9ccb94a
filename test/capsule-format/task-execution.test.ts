// What a manifest says of a result: whether it was sampled, and whether only its program vouches for it, which manifest and
// attestation name.

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
const json = (name: string, value: object) => textFile(`tasks/main/${name}`, JSON.stringify(value))
/** The evidence of a job, with changes to its `job.json`. */
const evidence = (result: object, job: object = {}, facts?: object) => [
  json('job.json', { id: task!.jobId, provider: 'Local', backend: 'aer', shots: 10, ...job }),
  json('timing.json', { started_at: null, completed_at: null, actual_cost_usd: null }),
  json('backend.json', facts ? { facts } : {}),
  json('result.json', result)
]
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
    const files = evidence({ counts: { '0': 10 }, ...(metadata && { metadata }) }, { framework, source })
    expect(taskExecution('main', files).programReported).toBe(expected)
  })
})

describe('a result is called sampled', () => {
  const counts = { '0': 6, '1': 4 }
  const drawn = { count_source: 'simulator_sampled' }
  const exact = { count_source: 'probability_derived' }
  const sweep = { points: [{ index: 0, counts, metadata: drawn }], metadata: { sweep: true } }
  const [simulator, cloud, machine] = [
    { provider: 'Local' },
    { provider: 'IonQ', facts: { deviceType: 'simulator' } },
    { provider: 'IonQ', facts: { deviceType: 'qpu' } }
  ]

  test.each<[string, object, { provider: string; facts?: object }, boolean]>([
    ['with counts of a circuit', { counts, metadata: drawn }, simulator, true],
    ['with counts in the points of a sweep', sweep, simulator, true],
    ['with several counts that a program returned', { z: counts, runs: [{ x: counts }] }, simulator, true],
    ['without counts', { energy: -1.1 }, simulator, false],
    ['with a state vector alone', { counts: {}, state_vector: [[1, 0]], metadata: drawn }, simulator, false],
    ['with counts that a provider’s simulator derived', { counts, metadata: exact }, cloud, false],
    ['with counts that a machine’s provider derived', { counts, metadata: exact }, machine, true],
    ['with a value from a machine', { energy: -1.1 }, machine, true]
  ])('%s, or not, as a verification reads it', async (_, result, { provider, facts }, sampled) => {
    const files = evidence(result, { provider }, facts)
    const execution = taskExecution('main', files)
    expect(execution.sampled).toBe(sampled)
    const { sealed, archive } = await sealedSample({ tasks: [execution], files })
    const regime = execution.hardware ? 'calibration_drift' : 'strict'
    expect(JSON.parse(sealed.manifest).task_executions).toMatchObject([
      sampled
        ? { result_type: 'probabilistic', verification_settings: { epsilon: 0.05, tolerance_regime: regime } }
        : { result_type: 'deterministic' }
    ])
    await inFolder((folder) => {
      const file = join(folder, 'bell.capsule')
      writeFileSync(file, archive)
      expect(publicTool('verify', file, '--id', sealed.capsuleDigest)).toMatchObject({ status: 0 })
    })
  })
})
