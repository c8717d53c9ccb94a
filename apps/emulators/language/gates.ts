// How the gates of the dialects act.
import { fixedGates, phaseShift } from '../simulator/gates.js'
import type { Complex, Matrix, Pauli } from '../simulator/state-vector.js'
import type { Gate } from './program.js'

export const fixed = (name: keyof typeof fixedGates, controls = 0): Gate => ({
  parameters: 0,
  controls,
  targets: 1,
  effect: () => ({ matrix: fixedGates[name] })
})

/** exp(-i angle/2 P) */
export const rotation = (paulis: readonly Pauli[], controls = 0): Gate => ({
  parameters: 1,
  controls,
  targets: paulis.length,
  effect: ([angle]) => ({ paulis, angle: angle! / 2 })
})

export const phase = (controls = 0): Gate => ({
  parameters: 1,
  controls,
  targets: 1,
  effect: ([angle]) => ({ matrix: phaseShift(angle!) })
})

export const general = (
  parameters: number,
  angles: (given: readonly number[]) => [theta: number, phi: number, lambda: number]
): Gate => ({
  parameters,
  controls: 0,
  targets: 1,
  effect: (given) => ({ matrix: turn(...angles(given)) })
})

/** A gate whose matrix has 2^targets rows; the first target is the leftmost digit of a row's number. */
export const ofMatrix = (
  parameters: number,
  targets: number,
  matrix: (given: readonly number[]) => Matrix,
  controls = 0
): Gate => ({ parameters, controls, targets, effect: (given) => ({ matrix: matrix(given) }) })

/** U(theta, phi, lambda), without its phase. */
function turn(theta: number, phi: number, lambda: number): Matrix {
  const [cos, sin] = [Math.cos(theta / 2), Math.sin(theta / 2)]
  return [
    [polar(cos, 0), polar(-sin, lambda)],
    [polar(sin, phi), polar(cos, phi + lambda)]
  ]
}

export const polar = (length: number, angle: number): Complex => [length * Math.cos(angle), length * Math.sin(angle)]
