import { describe, expect, test } from '@jest/globals'
import { assertParams, assertUsable, backendView } from '../../../domain/backends/backend.js'
import { backend } from '../../support/jobs/backend.js'

describe('a backend that cannot take a job says why', () => {
  test.each([
    ['offline', { status: 'offline' as const }, 'backend_unavailable', 'backend: sim is offline'],
    ['in maintenance', { status: 'maintenance' as const }, 'backend_unavailable', 'backend: sim is in maintenance'],
    ['retired, even when offline', { isRetired: true, status: 'offline' as const }, 'backend_retired', 'was retired'],
    ['switched off', { isAvailable: false }, 'backend_unavailable', 'an administrator has disabled it'],
    ['without an engine', { engine: null }, 'backend_unavailable', 'this version has no adapter for Local'],
    ['of an unknown engine', { engine: 'warp' }, 'backend_unavailable', 'this version does not include the engine warp']
  ])('%s', (_what, changes, code, text) => {
    const use = () => assertUsable(backend(changes), 'sim', { shots: 1, program: 'circuit' })
    expect(use).toThrow(expect.objectContaining({ code, message: expect.stringContaining(text) }))
    expect(backendView(backend(changes)).isAvailable).toBe(false)
  })

  test('unknown', () => {
    expect(() => assertUsable(null, 'no"pe', { shots: 1, program: 'circuit' })).toThrow(
      expect.objectContaining({ code: 'backend_unknown' })
    )
  })

  test('auto, where a backend must be named', () => {
    expect(() => assertUsable(null, 'auto', { shots: 1, program: 'circuit' })).toThrow(
      'auto is for plain submissions and estimates'
    )
  })

  test('shots pass at its own limit and are refused above it', () => {
    expect(() => assertUsable(backend(), 'sim', { shots: 1000, program: 'circuit' })).not.toThrow()
    expect(() => assertUsable(backend(), 'sim', { shots: 1001, program: 'circuit' })).toThrow(
      'params.shots: sim takes at most 1000 shots (got 1001)'
    )
    expect(() => assertUsable(backend({ maxShots: null }), 'sim', { shots: 100_000, program: 'circuit' })).not.toThrow()
  })
})

describe('a program of the wrong kind is refused first', () => {
  const machine = backend({ supportedProgramTypes: ['ahs'], engine: null })

  test('an analog program where only circuits run', () => {
    const use = () => assertUsable(backend({ status: 'offline' }), 'sim', { shots: 1, program: 'analog' })
    expect(use).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        message: expect.stringContaining('backend: sim runs circuits, not analog programs (circuit.format ahs)')
      })
    )
  })

  test('a circuit where only analog programs run', () => {
    const use = () => assertUsable(machine, 'atoms', { shots: 1, program: 'circuit' })
    expect(use).toThrow('backend: atoms runs analog programs (circuit.format ahs), not circuits or programs')
    expect(use).toThrow(expect.objectContaining({ code: 'validation_error' }))
  })

  test('the right kind only meets the other reasons', () => {
    expect(() => assertUsable(machine, 'atoms', { shots: 1, program: 'analog' })).toThrow('no adapter for Local')
  })

  test.each([
    ['observables', { observables: ['Z'] }],
    ['mitigation', { mitigation: { readout: true } }],
    ['noise_model', { noise_model: {} }],
    ['extract_state_vector', { extract_state_vector: true }],
    ['optimization_level', { optimization_level: 1 }],
    ['points', { points: [{}] }]
  ])('params.%s has no meaning there', (name, params) => {
    expect(() => assertParams(machine, params)).toThrow(`params.${name}: an analog program (ahs) does not take it`)
    expect(() => assertParams(machine, { extract_state_vector: false })).not.toThrow()
  })
})

test('prices are shown in dollars, exactly', () => {
  expect(backendView(backend()).pricing).toEqual({ taskFee: 0, perShot: 0.00035, minimumCost: 0 })
})

test('the price of a machine’s time is shown with its cap, and only where there is one', () => {
  const { pricing } = backend()
  const timed = backend({ pricing: { ...pricing, byTime: { perSecond: 1_600_000n, secondsMax: 60 } } })
  expect(backendView(timed).pricing).toEqual({
    taskFee: 0,
    perShot: 0.00035,
    minimumCost: 0,
    perSecond: 1.6,
    secondsMax: 60
  })
})
