import { describe, expect, test } from '@jest/globals'
import { factsOf, statesOf } from '../../../services/providers/ibm/device.js'
import { viewOf } from '../../../services/providers/ibm/jobs.js'

describe('a job', () => {
  test.each([
    ['Queued', 'queued'],
    ['Running', 'running'],
    ['Completed', 'completed'],
    ['Cancelled', 'cancelled'],
    ['Failed', 'failed'],
    ['Recalibrating', 'running'],
    ['completed', 'running'],
    ['toString', 'running']
  ])('with the status %s is %s', (status, ours) => {
    const expected = { status: ours, raw: status, queuePosition: null, predictedWaitSeconds: null, cost: null }
    expect(viewOf({ state: { status }, status })).toMatchObject(expected)
    expect(viewOf({ state: { status } })).toMatchObject(expected)
    expect(viewOf({ status })).toMatchObject(expected)
  })

  test('shows the status of `state`, which is the present one', () => {
    expect(viewOf({ state: { status: 'Running' }, status: 'Queued' })).toMatchObject({ status: 'running' })
  })

  test.each([
    [{ state: { status: 'Cancelled', reason_code: 1305 }, status: 'Cancelled - Ran too long' }],
    [{ state: { status: 'Cancelled - Ran too long', reason_code: 1305 } }],
    [{ state: {}, status: 'Cancelled - Ran too long' }]
  ])('that ran too long has failed, and was not cancelled by anybody: %p', (job) => {
    const { status, raw, failure } = viewOf(job)
    expect([status, raw]).toEqual(['failed', 'Cancelled - Ran too long'])
    expect(failure).toMatch(/^Cancelled - Ran too long/)
  })

  test('that ran too long is known by its code alone', () => {
    const state = { status: 'Cancelled', reason: 'Job ran longer than its cost.', reason_code: 1305 }
    expect(viewOf({ state, status: 'Cancelled' })).toMatchObject({
      status: 'failed',
      failure: 'Job ran longer than its cost (error 1305)'
    })
  })

  test("that is not ISA has failed with IBM's reason and what to do", () => {
    const state = {
      status: 'Failed',
      reason: 'Circuits do not match the target definition (non-ISA circuits).',
      reason_code: 1517,
      reason_solution: 'Transpile your circuits for the target.'
    }
    expect(viewOf({ state })).toMatchObject({
      status: 'failed',
      failure:
        'Circuits do not match the target definition (non-ISA circuits). Transpile your circuits for the target (error 1517)'
    })
  })

  test('without a reason names none, and a long one is cut', () => {
    expect(viewOf({ state: { status: 'Failed', reason: '' } }).failure).toBeNull()
    expect(viewOf({ state: { status: 'Failed', reason: 'x'.repeat(5_000) } }).failure).toHaveLength(600)
  })

  test.each<[string, unknown, object]>([
    ['the seconds that it is charged for', { qpu_charge_time_seconds: 2.5, status: 'complete' }, { amount: 2.5 }],
    ['no seconds when it was not charged', { qpu_charge_time_seconds: 0, status: 'complete' }, { amount: 0 }],
    ['seconds of an older form', { quantum_seconds: 4 }, { amount: 4 }]
  ])('that has ended names %s', (_what, usage, used) => {
    for (const status of ['Completed', 'Failed', 'Cancelled']) {
      const view = viewOf({ state: { status }, usage })
      expect(view).toMatchObject({ usage: { ...used, unit: 'seconds' } })
      expect(view.isUsagePending ?? false).toBe(false)
    }
  })

  test('that used no seconds is free, unless it has a result', () => {
    const costOf = (status: string, usage: object) => viewOf({ state: { status }, usage }).cost
    const none = { qpu_charge_time_seconds: 0, status: 'complete' }
    const some = { qpu_charge_time_seconds: 2, status: 'complete' }
    const pending = { qpu_charge_time_seconds: 0, status: 'pending' }
    for (const status of ['Cancelled', 'Failed'])
      expect([costOf(status, none), costOf(status, some), costOf(status, pending), costOf(status, {})]).toEqual([
        0n,
        null,
        null,
        null
      ])
    expect(costOf('Completed', none)).toBeNull()
  })

  test('whose seconds are still to come says so, and names none', () => {
    const view = viewOf({ state: { status: 'Completed' }, usage: { qpu_charge_time_seconds: 0, status: 'pending' } })
    expect(view).toMatchObject({ isUsagePending: true })
    expect(view.usage).toBeUndefined()
  })

  test('that still runs names no seconds', () => {
    const view = viewOf({ state: { status: 'Running' }, usage: { qpu_charge_time_seconds: 3, status: 'pending' } })
    expect([view.usage, view.isUsagePending]).toEqual([undefined, undefined])
  })

  test.each([
    undefined,
    null,
    7,
    [],
    {},
    { qpu_charge_time_seconds: -1 },
    { qpu_charge_time_seconds: '2' },
    { qpu_charge_time_seconds: 1e9 }
  ])('with the usage %p names no seconds', (usage) => {
    const view = viewOf({ state: { status: 'Completed' }, usage })
    expect([view.usage, view.isUsagePending]).toEqual([undefined, undefined])
  })
})

describe('a device', () => {
  const configuration = {
    n_qubits: 3,
    basis_gates: ['cz', 'id', 'rz', 'sx', 'x'],
    coupling_map: [
      [0, 1],
      [2, 1]
    ],
    max_shots: 8192
  }
  const active = { state: true, status: 'active' }

  test('is what to compile for', () => {
    expect(factsOf(configuration, active)).toEqual({
      target: {
        format: 'ibm',
        num_qubits: 3,
        basis_gates: configuration.basis_gates,
        coupling_map: configuration.coupling_map
      },
      status: 'online',
      shots: { min: 1, max: 8192 },
      price: null
    })
  })

  test('lends only gates that the compiler takes with every angle, each once', () => {
    const basis_gates = ['rzz', 'cz', 'rx', 'measure', 'if_else', 'cz', 7, 'xslow', 'sx', 'rz']
    expect(factsOf({ ...configuration, basis_gates }, active).target.basis_gates).toEqual(['cz', 'sx', 'rz'])
  })

  test.each([null, 0, -1, '100', 1.5, undefined])('whose maximum of shots is %p names none', (max_shots) => {
    expect(factsOf({ ...configuration, max_shots }, active).shots).toBeNull()
  })

  test.each([
    [{ state: true, status: 'active' }, 'online'],
    [{ status: 'active' }, 'online'],
    [{ state: false, status: 'active' }, 'offline'],
    [{ state: false, status: 'maintenance' }, 'offline'],
    [{ state: true, status: 'paused' }, 'offline'],
    [{ state: true, status: 'offline' }, 'offline'],
    [{ state: false, status: 'retired' }, 'retired'],
    [{ state: true, status: 'unheard of' }, 'offline'],
    [{}, 'offline']
  ])('with the status %p is %s', (status, ours) => {
    expect(factsOf(configuration, status).status).toBe(ours)
  })

  test.each<[string, object]>([
    ['the number of qubits', { n_qubits: undefined }],
    ['the number of qubits', { n_qubits: 0 }],
    ['the number of qubits', { n_qubits: 1e9 }],
    ['the number of qubits', { n_qubits: '3' }],
    ['the gates', { basis_gates: undefined }],
    ['the gates', { basis_gates: 'cz' }],
    ['the gates', { basis_gates: ['xslow', {}] }],
    ['the coupled qubits', { coupling_map: undefined }],
    ['the coupled qubits', { coupling_map: [] }],
    ['the coupled qubits', { coupling_map: Array(20_000).fill([0, 1]) }],
    ['a pair of coupled qubits', { coupling_map: [[0, 3]] }],
    ['a pair of coupled qubits', { coupling_map: [[1, 1]] }],
    ['a pair of coupled qubits', { coupling_map: [[0, 1, 2]] }],
    ['a pair of coupled qubits', { coupling_map: [[0, '1']] }],
    ['a pair of coupled qubits', { coupling_map: [null] }]
  ])('is not compiled for without %s: %p', (what, change) => {
    expect(() => factsOf({ ...configuration, ...change }, active)).toThrow(what)
  })
})

describe('a list of devices', () => {
  const device = (status: unknown, more: object = {}) => ({ name: 'ibm_fez', status, queue_length: 3, ...more })
  const stateOf = (given: object) => statesOf({ devices: [given] })[0]

  test.each([
    [{ name: 'online', reason: 'available' }, 'online'],
    [{ name: 'paused', reason: 'maintenance' }, 'offline'],
    [{ name: 'offline' }, 'offline'],
    [{ name: 'retired' }, 'retired'],
    [{ name: 'unheard of' }, 'offline'],
    ['online', 'offline'],
    [null, 'offline']
  ])('shows the status %p as %s', (status, ours) => {
    expect(stateOf(device(status))).toEqual({
      target: 'ibm_fez',
      status: ours,
      queueTimeSeconds: null,
      queueLength: 3
    })
  })

  test('leaves out what is no device, and numbers that are none', () => {
    expect(statesOf({ devices: [null, 7, { status: {} }, { name: 7 }, device({ name: 'online' })] })).toHaveLength(1)
    const odd = device({ name: 'online' }, { queue_length: '3', wait_time_seconds: { average: -1 } })
    expect(stateOf(odd)).toMatchObject({ queueTimeSeconds: null, queueLength: null })
  })

  test('has an end', () => {
    expect(statesOf({ devices: Array(5_000).fill(device({ name: 'online' })) })).toHaveLength(1_000)
  })

  test('can be empty, and is unclear in another form', () => {
    expect(statesOf({ devices: [] })).toEqual([])
    // The form of an older version of the API.
    for (const devices of [undefined, 'all', { a: 1 }, ['ibm_fez', 'ibm_marrakesh']])
      expect(() => statesOf({ devices })).toThrow(expect.objectContaining({ kind: 'unclear' }))
  })
})
