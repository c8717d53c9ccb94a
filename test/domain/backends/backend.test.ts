import { describe, expect, test } from '@jest/globals'
import { assertUsable, type Backend, backendView } from '../../../domain/backends/backend.js'

const backend = (changes: Partial<Backend> = {}): Backend => ({
  id: '01900000-0000-7000-8000-000000000000',
  slug: 'sim',
  name: 'Simulator',
  provider: 'Local',
  deviceType: 'simulator',
  providerTargetId: 'sim',
  region: null,
  qubitCount: 25,
  topology: null,
  isAvailable: true,
  isRetired: false,
  status: 'online',
  statusUpdatedAt: new Date(0),
  updatedAt: new Date(0),
  pricing: { taskFee: 0n, perShot: 350n, minimumCost: 0n },
  maxShots: 1000,
  maxQubits: 25,
  engine: 'statevector',
  description: null,
  documentationUrl: null,
  tags: [],
  displayOrder: 10,
  isRecommended: false,
  supportedProgramTypes: ['qasm3'],
  supportsNoiseModel: false,
  supportsStateVector: true,
  nativeGates: null,
  served: false,
  queueLength: null,
  queueTimeSeconds: null,
  ...changes
})

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

  test('shots pass at its own limit and are refused above it', () => {
    expect(() => assertUsable(backend(), 'sim', 1000)).not.toThrow()
    expect(() => assertUsable(backend(), 'sim', 1001)).toThrow('params.shots: sim takes at most 1000 shots (got 1001)')
    expect(() => assertUsable(backend({ maxShots: null }), 'sim', 100_000)).not.toThrow()
  })
})

test('prices are shown in dollars, exactly', () => {
  expect(backendView(backend()).pricing).toEqual({ taskFee: 0, perShot: 0.00035, minimumCost: 0 })
})
