// Analog programs at the emulated Aquila: physics that is known on paper, the form of the shots, and the device's limits.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { readAnalog } from '../../apps/emulators/braket/analog.js'
import { analogProbabilities } from '../../apps/emulators/braket/analog-shots.js'
import { type AnalogParts, analogAction } from './analog-programs.js'
import { aquila, type Braket, errorOf, startBraket } from './braket-client.js'

let braket: Braket

beforeAll(async () => {
  braket = await startBraket()
})
beforeEach(() => braket.control.reset())
afterAll(() => braket.close())

/** A pulse of a length, with ramps of 0.1 us, whose area is `angle`. */
const pulse = (angle: number, length = 1.1e-6) => {
  const top = angle / (length - 0.1e-6)
  return { times: [0, 0.1e-6, length - 0.1e-6, length], values: [0, top, top, 0] }
}
const probabilities = (parts: AnalogParts) => analogProbabilities(readAnalog(analogAction(parts)))
const body = (parts: AnalogParts, changes: Record<string, unknown> = {}) => ({
  deviceArn: aquila,
  shots: 40,
  action: JSON.stringify(analogAction(parts)),
  ...changes
})
const far: [number, number][] = [
  [0, 0],
  [0, 4e-5],
  [0, 8e-5]
]
const near: [number, number][] = [
  [0, 0],
  [0, 4.1e-6]
]

describe('the physics', () => {
  test('of one atom is a Rabi oscillation', () => {
    for (const angle of [0.4, Math.PI / 2, Math.PI, 5])
      expect(probabilities({ sites: [[0, 0]], amplitude: pulse(angle) })[1]).toBeCloseTo(Math.sin(angle / 2) ** 2, 3)
  })

  test('of one atom off resonance is a slower one with less effect', () => {
    // A constant drive but for its short ramps: sin²(W t / 2) Omega² / W², W² = Omega² + Delta².
    const [omega, delta, length] = [1e7, 8e6, 4e-6]
    const amplitude = { times: [0, 5e-8, length - 5e-8, length], values: [0, omega, omega, 0] }
    const detuning = { times: [0, length], values: [delta, delta] }
    const found = probabilities({ sites: [[0, 0]], amplitude, detuning })[1]!
    expect(found).toBeLessThan(omega ** 2 / (omega ** 2 + delta ** 2) + 0.02)
    expect(found).toBeGreaterThan(0)
  })

  test('of atoms far apart is that of single atoms', () => {
    const found = probabilities({ sites: far, amplitude: pulse(1) })
    const one = Math.sin(0.5) ** 2
    expect(found[0b101]).toBeCloseTo(one * one * (1 - one), 3)
  })

  test('of a close pair is a blockade: one excitation, and faster by the root of two', () => {
    const found = probabilities({ sites: near, amplitude: pulse(Math.PI / Math.SQRT2) })
    expect(found[0b11]).toBeLessThan(0.001)
    expect(found[0b01]! + found[0b10]!).toBeGreaterThan(0.995)
  })

  test('of a local detuning spares the atoms that it holds', () => {
    const length = 1.1e-6
    const local = { magnitude: { times: [0, 1e-7, 1e-6, length], values: [0, 1.2e8, 1.2e8, 0] }, pattern: [0, 0, 1] }
    const found = probabilities({ sites: far, amplitude: pulse(Math.PI, length), local })
    expect(found[0b011]).toBeGreaterThan(0.97)
  })
})

describe('shots', () => {
  const shotsOf = async (parts: AnalogParts) =>
    (await braket.run(body(parts))).result as {
      braketSchemaHeader: { name: string }
      additionalMetadata: { queraMetadata: { numSuccessfulShots: number } }
      measurements: { shotMetadata: { shotStatus: string }; shotResult: Record<string, number[] | null> }[]
    }

  test('have an atom or none per site before, and one or none after', async () => {
    const { braketSchemaHeader, measurements, additionalMetadata } = await shotsOf({
      sites: far,
      filling: [1, 0, 1],
      amplitude: pulse(Math.PI)
    })
    expect(braketSchemaHeader.name).toBe('braket.task_result.analog_hamiltonian_simulation_task_result')
    expect(measurements).toHaveLength(40)
    expect(measurements[0]).toEqual({
      shotMetadata: { shotStatus: 'Success' },
      shotResult: { preSequence: [1, 0, 1], postSequence: [0, 0, 0] }
    })
    expect(additionalMetadata.queraMetadata.numSuccessfulShots).toBe(40)
  })

  test('fail by the share that is set', async () => {
    await braket.steer('POST', '/settings', { failed_shots: 1 })
    const { measurements, additionalMetadata } = await shotsOf({ sites: far, amplitude: pulse(1) })
    expect(measurements[0]).toEqual({
      shotMetadata: { shotStatus: 'Failure' },
      shotResult: { preSequence: null, postSequence: null }
    })
    expect(additionalMetadata.queraMetadata.numSuccessfulShots).toBe(0)
  })

  test('are random by the share of the noise', async () => {
    braket.control.noise(1)
    const { measurements } = await shotsOf({ sites: far, amplitude: pulse(0) })
    const seen = new Set(measurements.map(({ shotResult }) => shotResult.postSequence!.join('')))
    expect(seen.size).toBeGreaterThan(4)
  })
})

describe('Braket refuses an analog program', () => {
  const fine: AnalogParts = { sites: far, amplitude: pulse(1) }
  test.each<[string, AnalogParts, string]>([
    [
      'with sites too close',
      {
        ...fine,
        sites: [
          [0, 0],
          [0, 3.9e-6]
        ]
      },
      'closer than 0.000004 m'
    ],
    [
      'over too large an area',
      {
        ...fine,
        sites: [
          [0, 0],
          [8e-5, 0]
        ]
      },
      'more than 0.000075 m'
    ],
    ['that lasts too long', { ...fine, amplitude: pulse(1, 4.1e-6) }, 'lasts longer than 0.000004 s'],
    ['with a drive too strong', { ...fine, amplitude: pulse(18) }, 'amplitude must be from 0.0 to 15800000.0'],
    [
      'that begins with the laser on',
      { ...fine, amplitude: { times: [0, 1e-6], values: [1e6, 0] } },
      'must begin and end with 0'
    ],
    [
      'with a ramp too steep',
      { ...fine, detuning: { times: [0, 5e-8, 1.1e-6], values: [-1.25e8, 1.25e8 + 6e7, 0] } },
      'detuning must be from'
    ],
    [
      'with times too close',
      { ...fine, detuning: { times: [0, 1e-8, 1.1e-6], values: [0, 0, 0] } },
      'closer than 5E-8'
    ],
    ['of unequal lengths', { ...fine, detuning: { times: [0, 1e-6], values: [0, 0] } }, 'end at different times'],
    ['without sites', { ...fine, sites: [] }, '1 to 256 sites'],
    ['with a filling of another length', { ...fine, filling: [1] }, 'as long as sites']
  ])('%s', async (_name, parts, words) => {
    const answer = await braket.submit(body(parts))
    expect([...errorOf(answer), answer.body.message]).toEqual([
      400,
      'ValidationException',
      expect.stringContaining(words)
    ])
  })
})

test('an analog program of more atoms than this emulator simulates fails', async () => {
  const sites = Array.from({ length: 11 }, (_, index): [number, number] => [0, index * 1e-5])
  const { record } = await braket.run(body({ sites, amplitude: pulse(1) }))
  expect([record.status, record.failureReason]).toEqual(['FAILED', expect.stringContaining('at most 10')])
})
