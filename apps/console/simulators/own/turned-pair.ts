// A block on two qubits that turns each of them and then exchanges amplitudes, written so that its loop multiplies by real
// numbers where it can: u = e^(i g) diag(1, e^(i p)) [[c, -s], [s, c]] diag(1, e^(i l)) for each qubit.
import type { Matrix2 } from '../../circuit/matrix2.js'
import type { Matrix4, TurnedPair } from './kernels.js'

export interface Turned {
  high: Matrix2
  low: Matrix2
  /** A matrix on both qubits with one element in each column. */
  exchange: Matrix4
}

export type Complex = readonly [re: number, im: number]

export const times = ([a, b]: Complex, [c, d]: Complex): Complex => [a * c - b * d, a * d + b * c]

const isZero = (matrix: Matrix4, row: number, column: number): boolean =>
  matrix[8 * row + 2 * column] === 0 && matrix[8 * row + 2 * column + 1] === 0

const PLACES = [0, 1, 2, 3] as const

/** Whether a unitary gives each amplitude a place and a factor, and mixes none. */
export const isExchange = (matrix: Matrix4): boolean =>
  PLACES.every((column) => PLACES.filter((row) => !isZero(matrix, row, column)).length === 1)

/** @returns the pass, and the factor of the whole state that it leaves out. */
export function turnedPair({ high, low, exchange }: Turned, bits: { high: number; low: number }) {
  const [one, other] = [parts(high), parts(low)]
  const ends = PLACES.map((column) => {
    const row = PLACES.find((at) => !isZero(exchange, at, column))!
    const at = 8 * row + 2 * column
    const turned = times(column >> 1 ? one.after : ONE, column & 1 ? other.after : ONE)
    return { row, factor: times(turned, [exchange[at]!, exchange[at + 1]!]) }
  })
  const [re, im] = ends[0]!.factor
  const pass: TurnedPair = {
    kind: 'turned pair',
    ...bits,
    before: Float64Array.of(...other.before, ...one.before, ...times(one.before, other.before)),
    rotations: Float64Array.of(one.cosine, one.sine, other.cosine, other.sine),
    after: Float64Array.of(...ends.slice(1).flatMap(({ factor }) => times(factor, [re, -im]))),
    to: ends.map(({ row }) => row) as [number, number, number, number]
  }
  return { pass, factor: times(times(one.factor, other.factor), [re, im]) }
}

const ONE: Complex = [1, 0]

/** Divisions alone: angles would make a small number of each 0. */
function parts([a, b, c, d, e, f, g, h]: Matrix2) {
  const [cosine, sine] = [Math.hypot(a, b), Math.hypot(e, f)]
  const factor: Complex = cosine === 0 ? ONE : [a / cosine, b / cosine]
  const without = ([re, im]: Complex, length: number): Complex =>
    times([re / length, im / length], [factor[0], -factor[1]])
  const after = sine === 0 ? ONE : without([e, f], sine)
  // The larger elements decide: the phase of a tiny one is noise.
  const before = cosine >= sine ? times(without([g, h], cosine), [after[0], -after[1]]) : without([-c, -d], sine)
  return { factor, cosine, sine, before, after }
}
