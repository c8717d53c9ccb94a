// How many circuits a job pays for, and which mitigation makes no sense.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { assertParams, type BackendParams } from '../../../../domain/backends/backend.js'
import { codeOf } from '../../../../domain/errors.js'
import { circuitsOf } from '../../../../domain/jobs/params/circuits.js'
import type { Mitigation } from '../../../../domain/jobs/params/mitigation.js'
import { groupsOf } from '../../../../domain/jobs/params/observable-groups.js'
import { backend } from '../../../support/jobs/backend.js'

const noisy = backend({ slug: 'noisy', engine: 'noisy', supportsNoiseModel: true })
const zne: Mitigation['zne'] & {} = { factors: [1, 3, 5], fit: 'linear' }
const noise_model = { gate_errors: { all_2q: 0.01 }, readout_errors: { all: { p0_given1: 0.1 } } }

describe('the circuits of a job', () => {
  test.each<[string, BackendParams, number, number]>([
    ['nothing but its circuit', {}, 1, 1],
    ['observables, which are exact on most simulators', { observables: ['ZZ', 'XX'] }, 1, 3],
    ['an observable without a letter', { observables: ['II'] }, 1, 1],
    ['calibration', { mitigation: { readout: true } }, 3, 3],
    ['calibration and groups', { observables: ['ZZ', 'XX'], mitigation: { readout: true } }, 5, 5],
    [
      'folded circuits of each group',
      { observables: ['ZZ', 'XX'], mitigation: { zne: { ...zne, factors: [1, 3] } } },
      5,
      5
    ]
  ])('%s', (_name, params, here, atProvider) => {
    expect([circuitsOf(params, false), circuitsOf(params, true)]).toEqual([here, atProvider])
  })

  test('are as many as the executor makes, for random observables', () => {
    const table = readFileSync('apps/executor/tests/child/engines/observable_groups.json', 'utf8')
    for (const [observables, groups] of Object.entries(JSON.parse(table) as Record<string, number>))
      expect({ observables, groups: groupsOf(observables.split(' | ')) }).toEqual({ observables, groups })
  })

  test.each([
    [['XI', 'XZ', 'ZI', 'IZ'], 2],
    [['ZI + IZ + II', '0.5*XX - YY'], 3],
    [[`${'I'.repeat(40)}X`, `X${'I'.repeat(40)}`], 1],
    [[`${'I'.repeat(40)}X`, `${'I'.repeat(40)}Y`], 2],
    [['0*ZZ', 'XX'], 2]
  ])('%j are measured in %i groups', (observables, groups) => {
    expect(groupsOf(observables)).toBe(groups)
  })
})

describe('a job is refused', () => {
  test.each<[string, string, BackendParams]>([
    ['that mitigates nothing', 'params.mitigation: needs readout: true, zne or both', { mitigation: {}, noise_model }],
    ['that does not mitigate', 'params.mitigation: needs', { mitigation: { readout: false }, noise_model }],
    [
      'without noise',
      'params.mitigation: without params.noise_model a simulator makes no errors',
      { mitigation: { readout: true } }
    ],
    [
      'without errors of readout',
      'params.noise_model has no readout_errors',
      { mitigation: { readout: true }, noise_model: { gate_errors: { cx: 0.1 } } }
    ],
    [
      'like a device without errors of readout',
      'has no readout_errors',
      { mitigation: { readout: true }, noise_model: { like: 'rigetti-ankaa-3' } }
    ],
    [
      'without errors of gates',
      'has no errors of gates',
      { observables: ['Z'], mitigation: { zne }, noise_model: { readout_errors: noise_model.readout_errors } }
    ],
    ['that extrapolates nothing', 'needs params.observables', { mitigation: { zne }, noise_model }],
    [
      'that wants exact values',
      'cannot be exact with params.mitigation',
      { observables: ['Z'], observables_method: 'exact', mitigation: { readout: true }, noise_model }
    ],
    [
      'whose folded gates are optimized away',
      'must be 0 with params.mitigation.zne',
      { observables: ['Z'], optimization_level: 1, mitigation: { zne }, noise_model }
    ],
    [
      'whose factors do not begin with 1',
      'must begin with 1 and increase (got [2,3])',
      { observables: ['Z'], mitigation: { zne: { factors: [2, 3], fit: 'linear' } }, noise_model }
    ],
    [
      'whose factors repeat',
      'must begin with 1 and increase',
      { observables: ['Z'], mitigation: { zne: { factors: [1, 3, 3], fit: 'linear' } }, noise_model }
    ],
    [
      'with an order that its fit has not',
      'is for the fit polynomial (got linear)',
      { observables: ['Z'], mitigation: { zne: { ...zne, order: 1 } }, noise_model }
    ],
    [
      'with an order that its factors do not determine',
      'must be an integer from 1 to 2',
      { observables: ['Z'], mitigation: { zne: { ...zne, fit: 'polynomial', order: 3 } }, noise_model }
    ],
    [
      'without the order of its polynomial',
      'must be an integer from 1 to 2',
      { observables: ['Z'], mitigation: { zne: { ...zne, fit: 'polynomial' } }, noise_model }
    ],
    [
      'of more than 1,000 circuits',
      'would run 1,200 circuits',
      { circuit_count: 400, mitigation: { readout: true }, noise_model }
    ]
  ])('%s', (_name, message, params) => {
    try {
      assertParams(noisy, params)
    } catch (error) {
      expect([codeOf(error), (error as Error).message]).toEqual(['validation_error', expect.stringContaining(message)])
      return
    }
    throw new Error('accepted')
  })

  test.each<[string, BackendParams]>([
    ['params.mitigation.zne: machine compiles circuits itself', { observables: ['Z'], mitigation: { zne } }],
    ['params.observables_method: machine has no state', { observables: ['Z'], observables_method: 'exact' }],
    ['would run 1,002 circuits', { observables: ['Z'], circuit_count: 501 }]
  ])('at a provider: %s', (message, params) => {
    const machine = backend({ slug: 'machine', engine: null, deviceType: 'qpu' })
    expect(() => assertParams(machine, params)).toThrow(message)
    expect(() => assertParams(machine, { observables: ['ZZ'], mitigation: { readout: true } })).not.toThrow()
  })

  test('at a simulator of a provider', () => {
    const cloud = backend({ slug: 'cloud', engine: null, deviceType: 'simulator' })
    expect(() => assertParams(cloud, { mitigation: { readout: true } })).toThrow('cloud is a simulator without noise')
    expect(() => assertParams(cloud, { observables: ['ZZ'] })).not.toThrow()
  })

  test('on a simulator without noise', () => {
    expect(() => assertParams(backend(), { mitigation: { readout: true } })).toThrow(
      'sim runs without noise; use aer-noisy'
    )
  })
})

test('mitigation of errors that a noise model has is accepted', () => {
  for (const mitigation of [
    { readout: true },
    { zne },
    { readout: true, zne: { ...zne, fit: 'polynomial' as const, order: 2 } }
  ])
    expect(() => assertParams(noisy, { observables: ['ZZ'], mitigation, noise_model })).not.toThrow()
  expect(() =>
    assertParams(noisy, {
      observables: ['ZZ'],
      mitigation: { zne, readout: true },
      noise_model: { like: 'iqm-garnet' }
    })
  ).not.toThrow()
})
