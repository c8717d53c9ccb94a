// Gates written out for simulators that know few of them: turns of one qubit, and x under one or two controls.
import type { Control, GateOperation } from '../circuit/circuit.js'
import { gateMatrix, type Matrix2, principalPower, uAngles } from '../circuit/matrix2.js'
import { SimulationRefused } from './simulation.js'

export type Elementary =
  /** e^(i phase) u(theta, phi, lambda) up to its phase, which no measurement sees. */
  | { kind: 'turn'; theta: number; phi: number; lambda: number; qubit: number }
  | { kind: 'x'; controls: readonly number[]; qubit: number }

/** Controls of a gate that is written out: each further one takes three times as many operations. */
const CONTROLS_MAX = 8

const X: Matrix2 = gateMatrix('x', [])

/** What a gate does up to a phase of the whole state. Throws SimulationRefused for one with too many controls. */
export function elementary(gate: GateOperation): Elementary[] {
  const { name, controls } = gate
  if (controls.length > CONTROLS_MAX) {
    throw new SimulationRefused(
      `'${name}' under ${controls.length} controls: this simulator takes up to ${CONTROLS_MAX}; use the default one`
    )
  }
  const flips = controls.filter(({ value }) => value === 0).map(({ qubit }): Elementary => x([], qubit))
  return [...flips, ...positive(gate), ...flips]
}

/** A gate as if all its controls had to be 1. */
function positive({ name, angles, controls, targets }: GateOperation): Elementary[] {
  const places = controls.map(({ qubit }: Control) => qubit)
  const [first, second] = targets
  if (first === undefined) {
    const [last, ...others] = places
    // A phase under controls is a phase of one of them under the others.
    return last === undefined ? [] : controlled(gateMatrix('p', angles), others, last)
  }
  if (second !== undefined) {
    return [
      ...controlled(X, [first], second),
      ...controlled(X, [...places, second], first),
      ...controlled(X, [first], second)
    ]
  }
  return controlled(gateMatrix(name, angles), places, first)
}

const x = (controls: readonly number[], qubit: number): Elementary => ({ kind: 'x', controls, qubit })

function controlled(matrix: Matrix2, controls: readonly number[], target: number): Elementary[] {
  const isX = matrix === X || matrix.every((element, place) => element === X[place])
  if (isX && controls.length <= 2) return [x(controls, target)]
  const [last, ...others] = controls.toReversed()
  if (last === undefined) return [turn(matrix, target)]
  if (others.length === 0) return underOne(matrix, last, target)
  // The square root under the last control, twice, once undone where the others do not all hold.
  const root = principalPower(matrix, 0.5)
  return [
    ...underOne(root, last, target),
    ...controlled(X, others, last),
    ...underOne(principalPower(matrix, -0.5), last, target),
    ...controlled(X, others, last),
    ...controlled(root, others, target)
  ]
}

function turn(matrix: Matrix2, qubit: number): Elementary {
  const { theta, phi, lambda } = uAngles(matrix)
  return { kind: 'turn', theta, phi, lambda, qubit }
}

/** e^(i a) rz(b) ry(c) rz(d) under a control, as three turns around two x. */
function underOne(matrix: Matrix2, control: number, target: number): Elementary[] {
  const { phase, theta, phi, lambda } = uAngles(matrix)
  const made = (angles: [theta: number, phi: number, lambda: number]): Elementary => ({
    kind: 'turn',
    theta: angles[0],
    phi: angles[1],
    lambda: angles[2],
    qubit: target
  })
  return [
    made([0, 0, (lambda - phi) / 2]),
    x([control], target),
    made([-theta / 2, 0, -(phi + lambda) / 2]),
    x([control], target),
    made([theta / 2, phi, 0]),
    { kind: 'turn', theta: 0, phi: 0, lambda: phase + (phi + lambda) / 2, qubit: control }
  ]
}
