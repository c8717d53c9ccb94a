// Circuits for tests of the simulators, made without any text.
import fc from 'fast-check'
import type { Circuit, GateName, GateOperation } from '../../../apps/console/circuit/circuit.js'

/** How many angles and targets each gate has. */
export const gateShapes: Record<GateName, readonly [angles: number, targets: number]> = {
  id: [0, 1],
  x: [0, 1],
  y: [0, 1],
  z: [0, 1],
  h: [0, 1],
  s: [0, 1],
  sdg: [0, 1],
  t: [0, 1],
  tdg: [0, 1],
  sx: [0, 1],
  sxdg: [0, 1],
  rx: [1, 1],
  ry: [1, 1],
  rz: [1, 1],
  p: [1, 1],
  u: [3, 1],
  swap: [0, 2],
  gphase: [1, 0]
}

export type Gate = Omit<GateOperation, 'kind' | 'call'>

export const gate = (
  name: GateName,
  angles: readonly number[],
  controls: readonly number[],
  ...targets: number[]
): Gate => ({ name, angles, controls: controls.map((qubit) => ({ qubit, value: 1 })), targets })

/** Gates, then a measurement of all qubits. */
export function measured(qubits: number, gates: readonly Gate[]): Circuit {
  const clbits = Array.from({ length: qubits }, (_, qubit) => qubit)
  const calls = [...gates, ...clbits].map(() => ({
    line: 1,
    column: 1,
    name: 'x',
    angles: [],
    qubits: [],
    controls: 0
  }))
  return {
    language: 'openqasm3',
    qubits,
    qubitNames: clbits.map((qubit) => `q[${qubit}]`),
    clbits: qubits,
    clbitNames: clbits.map((clbit) => `meas[${clbit}]`),
    operations: [
      ...gates.map((one, call) => ({ kind: 'gate' as const, ...one, call })),
      ...clbits.map((qubit) => ({ kind: 'measure' as const, qubit, clbit: qubit, call: gates.length + qubit }))
    ],
    calls,
    outcome: [{ name: 'meas', clbits }],
    measuresImplicitly: true
  }
}

const names = Object.keys(gateShapes) as GateName[]

/** Gates on random qubits, under up to three controls of either value. */
export function randomCircuit(qubits: number, lengthMax: number): fc.Arbitrary<Circuit> {
  const order = fc.shuffledSubarray(
    Array.from({ length: qubits }, (_, qubit) => qubit),
    { minLength: qubits }
  )
  const angles = fc.array(fc.double({ min: -7, max: 7, noNaN: true }), { minLength: 3, maxLength: 3 })
  const one = fc
    .record({ name: fc.constantFrom(...names), order, angles, controls: fc.nat(3), value: fc.constantFrom(0, 1, 1, 1) })
    .map(({ name, order, angles, controls, value }): Gate => {
      const [params, targets] = gateShapes[name]
      const free = Math.min(controls, qubits - targets)
      return {
        name,
        angles: angles.slice(0, params),
        controls: order.slice(targets, targets + free).map((qubit) => ({ qubit, value: value as 0 | 1 })),
        targets: order.slice(0, targets)
      }
    })
  return fc
    .array(one, { minLength: 1, maxLength: lengthMax })
    .map((gates) => measured(qubits, [...mixed(qubits), ...gates, ...mixed(qubits)]))
}

/** Turns that make every phase between them a probability. */
export const mixed = (qubits: number): Gate[] =>
  Array.from({ length: qubits }, (_, qubit) =>
    gate('u', [0.4 + 0.3 * qubit, 0.7 - 0.2 * qubit, 1.1 + 0.1 * qubit], [], qubit)
  )
