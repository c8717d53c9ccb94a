// Matrices of the gates that providers share, and of trapped-ion gates. Angles in radians, phases in turns.
import type { Complex, Matrix } from './state-vector.js'

const zero: Complex = [0, 0]
const one: Complex = [1, 0]
const half = Math.SQRT1_2

/** e^(i angle). */
const unit = (angle: number): Complex => [Math.cos(angle), Math.sin(angle)]

const diagonal = (...entries: Complex[]): Matrix =>
  entries.map((entry, row) => entries.map((_, column) => (row === column ? entry : zero)))

/** diag(1, e^(i angle)). */
export const phaseShift = (angle: number): Matrix => diagonal(one, unit(angle))

/** One-qubit gates without a parameter, by IonQ's names: `v` is the root of x, `si`, `ti` and `vi` are inverses. */
export const fixedGates = {
  x: [
    [zero, one],
    [one, zero]
  ],
  y: [
    [zero, [0, -1]],
    [[0, 1], zero]
  ],
  z: phaseShift(Math.PI),
  h: [
    [
      [half, 0],
      [half, 0]
    ],
    [
      [half, 0],
      [-half, 0]
    ]
  ],
  s: phaseShift(Math.PI / 2),
  si: phaseShift(-Math.PI / 2),
  t: phaseShift(Math.PI / 4),
  ti: phaseShift(-Math.PI / 4),
  v: [
    [
      [0.5, 0.5],
      [0.5, -0.5]
    ],
    [
      [0.5, -0.5],
      [0.5, 0.5]
    ]
  ],
  vi: [
    [
      [0.5, -0.5],
      [0.5, 0.5]
    ],
    [
      [0.5, 0.5],
      [0.5, -0.5]
    ]
  ]
} as const satisfies Record<string, Matrix>

export const swap: Matrix = [
  [one, zero, zero, zero],
  [zero, zero, one, zero],
  [zero, one, zero, zero],
  [zero, zero, zero, one]
]

/** GPI: a half turn about the axis at `phase` turns in the plane of X and Y. */
export const gpi = (phase: number): Matrix => [
  [zero, unit(-2 * Math.PI * phase)],
  [unit(2 * Math.PI * phase), zero]
]

/** GPI2: a quarter turn about the same axis. */
export function gpi2(phase: number): Matrix {
  const [cos, sin] = unit(2 * Math.PI * phase)
  return [
    [
      [half, 0],
      [-half * sin, -half * cos]
    ],
    [
      [half * sin, -half * cos],
      [half, 0]
    ]
  ]
}

/** MS: exp(-i pi `angle` A0 A1), A the axes at the two phases. Phases and angle in turns; 0.25 entangles fully. */
export function molmerSorensen(phase0: number, phase1: number, angle: number): Matrix {
  const [cos, sin] = unit(Math.PI * angle)
  // -i sin e^(i turn)
  const corner = (turns: number): Complex => {
    const [re, im] = unit(2 * Math.PI * turns)
    return [sin * im, -sin * re]
  }
  return [
    [[cos, 0], zero, zero, corner(-(phase0 + phase1))],
    [zero, [cos, 0], corner(-(phase0 - phase1)), zero],
    [zero, corner(phase0 - phase1), [cos, 0], zero],
    [corner(phase0 + phase1), zero, zero, [cos, 0]]
  ]
}
