// The choice of a backend: which one, and the reason that each candidate gets.
import { describe, expect, test } from '@jest/globals'
import type { Backend } from '../../../domain/backends/backend.js'
import { type ChoiceJob, chooseBackend, type Means } from '../../../domain/backends/choice.js'
import type { Wishes } from '../../../domain/jobs/submission.js'
import { backend } from '../../support/jobs/backend.js'

const free = { taskFee: 0n, perShot: 0n, minimumCost: 0n, byTime: null }
const simulator = (slug: string, changes: Partial<Backend> = {}) =>
  backend({ slug, pricing: free, maxShots: null, ...changes })
const machine = (slug: string, changes: Partial<Backend> = {}) =>
  backend({
    slug,
    provider: 'IonQ',
    deviceType: 'qpu',
    engine: null,
    served: true,
    maxQubits: 36,
    pricing: { taskFee: 300_000n, perShot: 10_000n, minimumCost: 300_000n, byTime: null },
    ...changes
  })

const at = new Date('2026-11-23T10:00:00.000Z')
const nothing: Wishes = { maxCost: null, maxWaitSeconds: null, minQubits: null, hardware: null }
const bell: ChoiceJob = { shots: [100], program: 'circuit', circuitCount: 1, qubits: 2, params: {}, maxCost: null }
const rich: Means = { credentials: new Map([['ionq', ['api_key']]]), payRefusal: () => null }

interface Asked {
  wishes?: Partial<Wishes>
  job?: Partial<ChoiceJob>
  means?: Partial<Means>
}
const choose = (backends: Backend[], { wishes, job, means }: Asked = {}) =>
  chooseBackend(backends, { ...nothing, ...wishes }, { ...bell, ...job }, { ...rich, ...means }, at).choice
const reasons = (backends: Backend[], asked: Asked = {}) =>
  Object.fromEntries(choose(backends, asked).candidates.map(({ backend, reason }) => [backend, reason]))

describe('the chosen backend is', () => {
  test('the cheapest', () => {
    const [paid, cheap] = [machine('paid'), machine('cheap', { pricing: { ...free, taskFee: 1n } })]
    expect(reasons([paid, cheap])).toEqual({ cheap: 'the cheapest', paid: 'it costs more' })
    expect(reasons([paid, simulator('sim')])).toMatchObject({ sim: 'the cheapest' })
  })

  test('of equal prices the one with the shortest queue; an unknown queue comes last', () => {
    const all = [
      machine('unknown'),
      machine('long', { queueTimeSeconds: 900 }),
      machine('short', { queueTimeSeconds: 60 })
    ]
    expect(choose(all).candidates.map(({ backend, reason }) => [backend, reason])).toEqual([
      ['short', 'the cheapest, as others are; it has the shortest queue of them'],
      ['long', 'its queue is longer'],
      ['unknown', 'its queue is unknown']
    ])
  })

  test('of equals the first of the catalogue, each time', () => {
    const all = [simulator('b'), simulator('a'), simulator('c')]
    expect(choose(all)).toMatchObject({ chosen: 'b' })
    expect(choose(all)).toEqual(choose(all))
    expect(reasons(all)).toEqual({
      b: 'free, as others are; the first of them in the catalogue',
      a: 'it comes later in the catalogue',
      c: 'it comes later in the catalogue'
    })
  })

  test('the only one that can take the job, with what was asked and when', () => {
    const choice = choose([simulator('sim'), machine('qpu', { queueTimeSeconds: 30 })], {
      wishes: { hardware: true, maxCost: 2_000_000n, maxWaitSeconds: 60, minQubits: 30 }
    })
    expect(choice).toEqual({
      asked: { max_cost_usd: 2, max_wait_seconds: 60, min_qubits: 30, hardware: true },
      chosen: 'qpu',
      at: '2026-11-23T10:00:00.000Z',
      candidates: [
        {
          backend: 'qpu',
          usable: true,
          reason: 'the only one that can take the job',
          estimated_cost_usd: 1.3,
          wait_seconds: 30,
          max_qubits: 36,
          hardware: true
        },
        {
          backend: 'sim',
          usable: false,
          reason: 'it is a simulator; too narrow: it has 25 qubits',
          estimated_cost_usd: 0,
          wait_seconds: 0,
          max_qubits: 25,
          hardware: false
        }
      ]
    })
  })
})

test.each<[string, Backend, Asked]>([
  ['it is offline', simulator('x', { status: 'offline' }), {}],
  ['it is in maintenance', simulator('x', { status: 'maintenance' }), {}],
  ['its provider has retired it', simulator('x', { isRetired: true }), {}],
  ['an administrator has disabled it', simulator('x', { isAvailable: false }), {}],
  ['no worker has declared IonQ within a day', machine('x', { served: false }), {}],
  ['this version has no adapter for Elsewhere', machine('x', { provider: 'Elsewhere' }), {}],
  ['the team has no credentials for IonQ', machine('x'), { means: { credentials: new Map() } }],
  ['the key cannot pay', machine('x'), { means: { payRefusal: () => 'the key cannot pay' } }],
  ['it takes no circuits', simulator('x', { supportedProgramTypes: ['ahs'] }), {}],
  ['it takes no analog programs', simulator('x'), { job: { program: 'analog' } }],
  ['it takes at most 50 shots', simulator('x', { maxShots: 50 }), {}],
  ['too narrow: it has 25 qubits, the circuit 26', simulator('x'), { job: { qubits: 26 } }],
  ['too narrow: it has 25 qubits', simulator('x'), { wishes: { minQubits: 26 } }],
  ['its width is unknown', simulator('x', { maxQubits: null, qubitCount: null }), { wishes: { minQubits: 1 } }],
  ['too expensive: $1.30, more than $1.29', machine('x'), { wishes: { maxCost: 1_290_000n } }],
  ['too expensive: $2.60, more than $1.30', machine('x'), { job: { maxCost: 1_300_000n, circuitCount: 2 } }],
  ['its queue takes about 61 s', machine('x', { queueTimeSeconds: 61 }), { wishes: { maxWaitSeconds: 60 } }],
  ['its queue is unknown', machine('x'), { wishes: { maxWaitSeconds: 60 } }],
  [
    'params.noise_model: x runs without noise; use aer-noisy or aer-density-matrix',
    simulator('x'),
    { job: { params: { noise_model: {} } } }
  ],
  [
    'params.observables_method: x has no state to compute exact values from; use sampled',
    machine('x'),
    { job: { params: { observables: ['ZZ'], observables_method: 'exact' } } }
  ],
  [
    'too expensive: $3.90, more than $3.80',
    machine('x'),
    { job: { params: { observables: ['ZZ', 'XX'] }, maxCost: 3_800_000n } }
  ],
  [
    'params.extract_state_vector: x returns no state vector; use aer-statevector',
    simulator('x', { supportsStateVector: false }),
    { job: { params: { extract_state_vector: true } } }
  ],
  ['it is a simulator', simulator('x'), { wishes: { hardware: true } }],
  ['it is a quantum computer', machine('x'), { wishes: { hardware: false } }]
])('a backend is not chosen when %s, and the refusal says so', (reason, candidate, asked) => {
  expect(() => choose([candidate], asked)).toThrow(
    expect.objectContaining({
      code: 'backend_unavailable',
      message: `backend: auto finds none that can take this job. x: ${reason}`
    })
  )
})

test('a limit is met exactly: cost, queue, width and shots', () => {
  const qpu = machine('qpu', { queueTimeSeconds: 60, maxShots: 100 })
  const wishes = { maxCost: 1_300_000n, maxWaitSeconds: 60, minQubits: 36 }
  expect(choose([qpu], { wishes, job: { qubits: 36, maxCost: 1_300_000n } }).chosen).toBe('qpu')
})

test('a free backend needs no key that can pay', () => {
  expect(choose([simulator('sim')], { means: { payRefusal: () => 'no' } }).chosen).toBe('sim')
})

test('a refusal groups the backends by reason, and is of bounded length', () => {
  const off = Array.from({ length: 3 }, (_, k) => simulator(`off-${k}`, { status: 'offline' }))
  expect(() => choose([...off, simulator('narrow', { maxQubits: 1 })])).toThrow(
    'off-0, off-1, off-2: it is offline; narrow: too narrow: it has 1 qubits, the circuit 2'
  )
  const many = Array.from({ length: 500 }, (_, k) =>
    simulator(`a-backend-with-a-long-name-${k}`, { status: 'offline' })
  )
  let message = ''
  try {
    choose(many)
  } catch (error) {
    message = (error as Error).message
  }
  expect(message).toHaveLength(4000)
})

test('parameters that no backend takes are refused by their field, and a noise model beyond a backend rules that one out', () => {
  const noisy = simulator('noisy', { supportsNoiseModel: true, maxQubits: 14 })
  expect(() => choose([noisy], { job: { params: { noise_model: { unheard: 1 } } } })).toThrow(
    expect.objectContaining({ code: 'validation_error', message: expect.stringContaining('noise_model.unheard') })
  )
  expect(() => choose([noisy], { job: { params: { observables_method: 'exact' } } })).toThrow(
    'params.observables_method: needs params.observables'
  )
  const wide = { ...noisy, slug: 'wide', maxQubits: 28 }
  const params = { noise_model: { readout_errors: { 20: { p0_given1: 0.1, p1_given0: 0.1 } } } }
  expect(choose([noisy, wide, simulator('ideal')], { job: { params } })).toMatchObject({
    chosen: 'wide',
    candidates: [
      {},
      { backend: 'noisy', usable: false },
      { backend: 'ideal', reason: expect.stringContaining('runs without noise') }
    ]
  })
})
