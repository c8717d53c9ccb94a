import { describe, expect, test } from '@jest/globals'
import { factsOf, queueLengthOf } from '../../../services/providers/braket/device.js'

const gateAction = { 'braket.ir.openqasm.program': { supportedOperations: ['h', 'cnot'] } }

const device = (capabilities: unknown, deviceStatus = 'ONLINE') => ({
  deviceStatus,
  deviceCapabilities: JSON.stringify(capabilities)
})

describe('what Braket says about a device', () => {
  test('is how to compile for it, its shots and its price', () => {
    const capabilities = {
      service: { shotsRange: [0, 100_000], deviceCost: { price: 0.075, unit: 'minute' } },
      action: { 'braket.ir.openqasm.program': { supportedOperations: ['h', 'cnot', 'not a gate', 7] } },
      paradigm: { qubitCount: 34 }
    }
    expect(factsOf(device(capabilities))).toEqual({
      target: { format: 'braket', num_qubits: 34, gates: ['h', 'cnot'] },
      status: 'online',
      shots: { min: 1, max: 100_000 },
      price: { amount: 0.075, unit: 'minute' }
    })
  })

  test('is that it measures all qubits or none', () => {
    const action = {
      'braket.ir.openqasm.program': { supportedOperations: ['rx'], requiresAllQubitsMeasurement: true }
    }
    expect(factsOf(device({ action, paradigm: { qubitCount: 108 } })).target).toEqual({
      format: 'braket',
      num_qubits: 108,
      gates: ['rx'],
      measures_all: true
    })
  })

  test('is the limits of one for analog programs', () => {
    const paradigm = { qubitCount: 256, lattice: { area: { width: '0.000075' } } }
    expect(factsOf(device({ action: { 'braket.ir.ahs.program': {} }, paradigm })).target).toEqual({
      format: 'ahs',
      num_qubits: 256,
      limits: paradigm
    })
  })

  test.each([
    ['OFFLINE', 'offline'],
    ['RETIRED', 'retired'],
    ['RESTING', 'offline']
  ])('is its status: %s', (word, status) => {
    expect(factsOf(device({ action: gateAction, paradigm: { qubitCount: 2 } }, word)).status).toBe(status)
  })

  test.each<[string, unknown]>([
    ['are missing', { deviceStatus: 'ONLINE' }],
    ['are no JSON', { deviceCapabilities: '<html>' }],
    ['are nothing', device(null)],
    ['name no qubits', device({ action: gateAction })],
    ['name more qubits than any compiler takes', device({ action: gateAction, paradigm: { qubitCount: 1e9 } })],
    ['name no program', device({ action: {}, paradigm: { qubitCount: 2 } })],
    [
      'name no gate',
      device({ action: { 'braket.ir.openqasm.program': { supportedOperations: 'all' } }, paradigm: { qubitCount: 2 } })
    ]
  ])('is refused when its capabilities %s', (_what, given) => {
    expect(() => factsOf(given as object)).toThrow()
  })
})

describe('the length of a queue', () => {
  const queue = (queueSize: unknown, name = 'QUANTUM_TASKS_QUEUE') => ({ queue: name, queueSize })

  test.each<[string, unknown, number | null]>([
    ['the sum of both priorities', [queue('3'), queue('2'), queue('9', 'JOBS_QUEUE')], 5],
    ['unknown when there are more than Braket counts', [queue('>2000'), queue('0')], null],
    ['unknown when Braket does not name it', undefined, null],
    ['unknown without a queue of tasks', [queue('9', 'JOBS_QUEUE')], null]
  ])('is %s', (_what, deviceQueueInfo, length) => {
    expect(queueLengthOf({ deviceQueueInfo })).toBe(length)
  })
})
