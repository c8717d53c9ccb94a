// Matrices of gates on one qubit, and what the reader and the simulators compute with them.
import type { GateName } from './circuit.js'

/** Row by row, each element as its real and its imaginary part. */
export type Matrix2 = readonly [number, number, number, number, number, number, number, number]

/** A unitary as a phase and the angles of `u`: e^(i phase) u(theta, phi, lambda). */
export interface UAngles {
  phase: number
  theta: number
  phi: number
  lambda: number
}

const { SQRT1_2, cos, sin, PI } = Math

/** Eigenvalues this close to -1 have the angle pi: rounding decides on which side of the cut they lie. */
const CUT = 1e-11

const fixed: Partial<Record<GateName, Matrix2>> = {
  id: [1, 0, 0, 0, 0, 0, 1, 0],
  x: [0, 0, 1, 0, 1, 0, 0, 0],
  y: [0, 0, 0, -1, 0, 1, 0, 0],
  z: [1, 0, 0, 0, 0, 0, -1, 0],
  h: [SQRT1_2, 0, SQRT1_2, 0, SQRT1_2, 0, -SQRT1_2, 0],
  s: [1, 0, 0, 0, 0, 0, 0, 1],
  sdg: [1, 0, 0, 0, 0, 0, 0, -1],
  t: [1, 0, 0, 0, 0, 0, SQRT1_2, SQRT1_2],
  tdg: [1, 0, 0, 0, 0, 0, SQRT1_2, -SQRT1_2],
  sx: [0.5, 0.5, 0.5, -0.5, 0.5, -0.5, 0.5, 0.5],
  sxdg: [0.5, -0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -0.5]
}

/** The matrix of a gate with one target; for `gphase` that of its phase on any qubit. */
export function gateMatrix(name: GateName, angles: readonly number[]): Matrix2 {
  const known = fixed[name]
  if (known) return known
  const [angle = 0, phi = 0, lambda = 0] = angles
  const [c, s] = [cos(angle / 2), sin(angle / 2)]
  switch (name) {
    case 'rx':
      return [c, 0, 0, -s, 0, -s, c, 0]
    case 'ry':
      return [c, 0, -s, 0, s, 0, c, 0]
    case 'rz':
      return [c, -s, 0, 0, 0, 0, c, s]
    case 'p':
      return [1, 0, 0, 0, 0, 0, cos(angle), sin(angle)]
    case 'gphase':
      return [cos(angle), sin(angle), 0, 0, 0, 0, cos(angle), sin(angle)]
    case 'u':
      return [
        c,
        0,
        -cos(lambda) * s,
        -sin(lambda) * s,
        cos(phi) * s,
        sin(phi) * s,
        cos(phi + lambda) * c,
        sin(phi + lambda) * c
      ]
    default:
      throw new Error(`the gate ${name} has no matrix on one qubit`)
  }
}

/** The matrix of `second` after `first`. */
export function product(second: Matrix2, first: Matrix2): Matrix2 {
  const element = (row: number, column: number): [number, number] => {
    const [a, b] = [4 * row, 2 * column]
    const re =
      second[a]! * first[b]! -
      second[a + 1]! * first[b + 1]! +
      second[a + 2]! * first[b + 4]! -
      second[a + 3]! * first[b + 5]!
    const im =
      second[a]! * first[b + 1]! +
      second[a + 1]! * first[b]! +
      second[a + 2]! * first[b + 5]! +
      second[a + 3]! * first[b + 4]!
    return [re, im]
  }
  return [...element(0, 0), ...element(0, 1), ...element(1, 0), ...element(1, 1)]
}

/** The principal power of a unitary: eigenvalues e^(ia) with -pi < a <= pi become e^(ia exponent). */
export function principalPower(matrix: Matrix2, exponent: number): Matrix2 {
  const [a, b, c, d, e, f, g, h] = matrix
  // The matrix is e^(i half) (cos(turn) 1 - i sin(turn) n.sigma), where e^(2 i half) is its determinant.
  const half = Math.atan2(a * h + b * g - c * f - d * e, a * g - b * h - c * e + d * f) / 2
  const [x, y] = [cos(half), -sin(half)]
  const [ar, ai] = [a * x - b * y, a * y + b * x]
  const [br, bi] = [c * x - d * y, c * y + d * x]
  const [cr, ci] = [e * x - f * y, e * y + f * x]
  const [dr, di] = [g * x - h * y, g * y + h * x]
  const axis = [-(bi + ci) / 2, (cr - br) / 2, (di - ai) / 2] as const
  const sine = Math.hypot(...axis)
  const turn = Math.atan2(sine, (ar + dr) / 2)
  const [first, second] = [principal(half - turn) * exponent, principal(half + turn) * exponent]
  const [nx, ny, nz] = sine === 0 ? [0, 0, 1] : [axis[0] / sine, axis[1] / sine, axis[2] / sine]
  // The projectors on the two eigenvectors are (1 +- n.sigma) / 2.
  const [pr, pi] = [(cos(first) + cos(second)) / 2, (sin(first) + sin(second)) / 2]
  const [mr, mi] = [(cos(first) - cos(second)) / 2, (sin(first) - sin(second)) / 2]
  return [
    pr + mr * nz,
    pi + mi * nz,
    mr * nx + mi * ny,
    mi * nx - mr * ny,
    mr * nx - mi * ny,
    mi * nx + mr * ny,
    pr - mr * nz,
    pi - mi * nz
  ]
}

function principal(angle: number): number {
  const turned = angle - 2 * PI * Math.ceil((angle - PI) / (2 * PI))
  return turned < -PI + CUT ? turned + 2 * PI : turned
}

/** The phase and the angles of `u` that make a unitary. */
export function uAngles([a, b, c, d, e, f, g, h]: Matrix2): UAngles {
  const [diagonal, other] = [Math.hypot(a, b), Math.hypot(e, f)]
  const phase = diagonal === 0 ? 0 : Math.atan2(b, a)
  const lower = other === 0 ? phase : Math.atan2(f, e)
  const theta = 2 * Math.atan2(other, diagonal)
  const phi = lower - phase
  // The larger elements decide: the angle of a tiny one is noise.
  const lambda = diagonal >= other ? Math.atan2(h, g) - phase - phi : Math.atan2(-d, -c) - phase
  return { phase, theta, phi, lambda }
}
