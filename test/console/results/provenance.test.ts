import { expect, test } from '@jest/globals'
import { readProvenance } from '../../../apps/console/results/provenance.js'
import { openSweep } from '../../../apps/console/results/sweep-reader.js'

const factsOf = (text: string) =>
  Object.fromEntries(readProvenance(text).map(({ name, value }) => [name, value] as const))

test('a result of a simulator says what it ran on, in the digits of the result', () => {
  const metadata = {
    bit_order: 'qubit 0 leftmost',
    seed: 0,
    engine: 'noisy',
    engine_version: 'qiskit-aer 0.17.2',
    framework_version: 'qiskit 2.2.3',
    optimization_level: 1,
    provider_job_id: null,
    calibration_id: null,
    noise_model: { like: 'iqm-garnet', figures: '2026-10-01' },
    count_source: 'simulator_sampled',
    executed_apart: true,
    shots_requested: 100,
    shots_observed: 100,
    circuit_sha256: 'ab12'
  }
  const text = JSON.stringify({ counts: { '0': 100 }, metadata }).replace('"seed":0', '"seed":12345678901234567890')
  expect(factsOf(text)).toEqual({
    Counts: 'sampled by a simulator of this service, apart from the program',
    Engine: 'noisy, qiskit-aer 0.17.2',
    Framework: 'qiskit 2.2.3',
    'Optimisation level': '1',
    Seed: '12345678901234567890',
    'Shots that ran': '100',
    'Noise model': 'like iqm-garnet, by its figures of 2026-10-01',
    'SHA-256 of the circuit': 'ab12'
  })
})

test('a result of a provider has its calibration and its job there, and what is not known is left out', () => {
  const metadata = {
    count_source: 'provider_counts',
    engine: 'IonQ',
    engine_version: null,
    shots_requested: 100,
    shots_observed: 98,
    provider_job_id: 'job-1',
    calibration_id: 'cal-1'
  }
  expect(factsOf(JSON.stringify({ metadata }))).toEqual({
    Counts: 'returned by the provider',
    Engine: 'IonQ',
    'Shots that ran': '98 of 100',
    Calibration: 'cal-1',
    'Job at the provider': 'job-1'
  })
})

test('counts that a program reports, and values that it returns, are said to be its own', () => {
  const sourceOf = (count_source: string | null) => factsOf(JSON.stringify({ metadata: { count_source } })).Counts
  expect(sourceOf('program_reported')).toBe('reported by the program itself')
  expect(sourceOf(null)).toContain('the program returned its own value')
  expect(sourceOf('constructor')).toBe('constructor')
})

test.each(['', '{', '[]', '{"metadata":null}', '{"metadata":[]}', '{"counts":{}}'])('%j says nothing', (text) => {
  expect(readProvenance(text)).toEqual([])
})

test('a sweep says what all points have alike, and what each has', () => {
  const point = (index: number, seed: number) => ({
    index,
    params: { theta: index },
    counts: {},
    metadata: { engine: 'statevector', seed }
  })
  const points = [point(0, 3), point(1, 4)]
  const metadata = { engine: 'statevector', sweep: true }
  const reading = openSweep(JSON.stringify({ points, total_points: 2, failed_points: [], metadata }))
  if (reading?.kind !== 'read') throw new Error('not read')
  expect(reading.value.overview.provenance.map(({ name }) => name)).toEqual(['Engine'])
  expect(reading.value.provenance(1)).toContainEqual({ name: 'Seed', value: '4', isCode: false })
  expect(reading.value.provenance(7)).toEqual([])
})
