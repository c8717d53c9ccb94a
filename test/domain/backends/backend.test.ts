import { describe, expect, test } from '@jest/globals'
import { assertUsable, backendView } from '../../../domain/backends/backend.js'
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
    const use = () => assertUsable(backend(changes), 'sim', 1)
    expect(use).toThrow(expect.objectContaining({ code, message: expect.stringContaining(text) }))
    expect(backendView(backend(changes)).isAvailable).toBe(false)
  })

  test('unknown', () => {
    expect(() => assertUsable(null, 'no"pe', 1)).toThrow(expect.objectContaining({ code: 'backend_unknown' }))
  })

  test('auto, where a backend must be named', () => {
    expect(() => assertUsable(null, 'auto', 1)).toThrow('auto is for plain submissions (POST /api/jobs/submit)')
  })

  test('shots pass at its own limit and are refused above it', () => {
    expect(() => assertUsable(backend(), 'sim', 1000)).not.toThrow()
    expect(() => assertUsable(backend(), 'sim', 1001)).toThrow('params.shots: sim takes at most 1000 shots (got 1001)')
    expect(() => assertUsable(backend({ maxShots: null }), 'sim', 100_000)).not.toThrow()
  })
})

test('prices are shown in dollars, exactly', () => {
  expect(backendView(backend()).pricing).toEqual({ taskFee: 0, perShot: 0.00035, minimumCost: 0 })
})
