// The inner loops of the simulator: each changes a state of 2^n amplitudes in place. Bit `at` of an index is a qubit.
import type { Matrix2 } from '../../circuit/matrix2.js'

/** Amplitudes by the index whose highest bit is qubit 0. */
export interface State {
  re: Float64Array
  im: Float64Array
}

/** Row by row, each element as its real and its imaginary part; the first qubit is the higher bit. */
export type Matrix4 = Float64Array

export type Kernel =
  | { kind: 'one'; at: number; matrix: Matrix2 }
  | { kind: 'two'; high: number; low: number; matrix: Matrix4 }
  | TurnedPair
  /** A matrix on one qubit where other bits have given values. */
  | { kind: 'controlled'; at: number; mask: number; value: number; matrix: Matrix2 }
  /** A factor where bits have given values. */
  | { kind: 'phase'; mask: number; value: number; re: number; im: number }
  | { kind: 'swap'; high: number; low: number; mask: number; value: number }

/**
 * Each of two qubits is turned on its own, then values are exchanged: factors, a rotation of each qubit, factors again, and
 * where each amplitude goes. A third less to compute than a matrix on both.
 */
export interface TurnedPair {
  kind: 'turned pair'
  high: number
  low: number
  /** Of the amplitudes 01, 10 and 11, each as its real and its imaginary part; that of 00 is 1. */
  before: Float64Array
  /** Cosine and sine of the rotation of the higher qubit, and of the lower one. */
  rotations: Float64Array
  after: Float64Array
  /** Where the amplitudes 00, 01, 10 and 11 go. */
  to: readonly [number, number, number, number]
}

export function applyKernel(state: State, kernel: Kernel): void {
  switch (kernel.kind) {
    case 'one':
      one(state, kernel.at, kernel.matrix)
      break
    case 'two':
      two(state, kernel.high, kernel.low, kernel.matrix)
      break
    case 'turned pair':
      turnedPair(state, kernel)
      break
    case 'controlled':
      isX(kernel.matrix) ? controlledX(state, kernel) : controlled(state, kernel)
      break
    case 'phase':
      phase(state, kernel)
      break
    case 'swap':
      swap(state, kernel)
      break
  }
}

function one({ re, im }: State, at: number, matrix: Matrix2): void {
  const [a, b, c, d, e, f, g, h] = matrix
  const step = 1 << at
  const half = re.length >> 1
  for (let t = 0; t < half; t++) {
    const i = (t + (t & -step)) | 0
    const j = (i + step) | 0
    const xr = re[i]!
    const xi = im[i]!
    const yr = re[j]!
    const yi = im[j]!
    re[i] = a * xr - b * xi + c * yr - d * yi
    im[i] = a * xi + b * xr + c * yi + d * yr
    re[j] = e * xr - f * xi + g * yr - h * yi
    im[j] = e * xi + f * xr + g * yi + h * yr
  }
}

function two({ re, im }: State, high: number, low: number, matrix: Matrix4): void {
  const [a0, b0, a1, b1, a2, b2, a3, b3] = matrix as unknown as Matrix2
  const [c0, d0, c1, d1, c2, d2, c3, d3] = matrix.subarray(8) as unknown as Matrix2
  const [e0, f0, e1, f1, e2, f2, e3, f3] = matrix.subarray(16) as unknown as Matrix2
  const [g0, h0, g1, h1, g2, h2, g3, h3] = matrix.subarray(24) as unknown as Matrix2
  const [stepHigh, stepLow] = [1 << high, 1 << low]
  // One loop, whose counter gets a 0 at the place of each qubit: with loops in loops low places would be slow.
  const [aboveUpper, aboveLower] = [-Math.max(stepHigh, stepLow), -Math.min(stepHigh, stepLow)]
  const quarter = re.length >> 2
  for (let t = 0; t < quarter; t++) {
    const a = (t + (t & aboveLower)) | 0
    const i = (a + (a & aboveUpper)) | 0
    const j = (i + stepLow) | 0
    const k = (i + stepHigh) | 0
    const l = (k + stepLow) | 0
    const wr = re[i]!
    const wi = im[i]!
    const xr = re[j]!
    const xi = im[j]!
    const yr = re[k]!
    const yi = im[k]!
    const zr = re[l]!
    const zi = im[l]!
    re[i] = a0 * wr - b0 * wi + a1 * xr - b1 * xi + a2 * yr - b2 * yi + a3 * zr - b3 * zi
    im[i] = a0 * wi + b0 * wr + a1 * xi + b1 * xr + a2 * yi + b2 * yr + a3 * zi + b3 * zr
    re[j] = c0 * wr - d0 * wi + c1 * xr - d1 * xi + c2 * yr - d2 * yi + c3 * zr - d3 * zi
    im[j] = c0 * wi + d0 * wr + c1 * xi + d1 * xr + c2 * yi + d2 * yr + c3 * zi + d3 * zr
    re[k] = e0 * wr - f0 * wi + e1 * xr - f1 * xi + e2 * yr - f2 * yi + e3 * zr - f3 * zi
    im[k] = e0 * wi + f0 * wr + e1 * xi + f1 * xr + e2 * yi + f2 * yr + e3 * zi + f3 * zr
    re[l] = g0 * wr - h0 * wi + g1 * xr - h1 * xi + g2 * yr - h2 * yi + g3 * zr - h3 * zi
    im[l] = g0 * wi + h0 * wr + g1 * xi + h1 * xr + g2 * yi + h2 * yr + g3 * zi + h3 * zr
  }
}

function turnedPair({ re, im }: State, { high, low, before, rotations, after, to }: TurnedPair): void {
  const [ar, ai, br, bi, cr, ci] = before as unknown as Matrix2
  const [c1, s1, c2, s2] = rotations as unknown as Matrix2
  const [dr, di, er, ei, fr, fi] = after as unknown as Matrix2
  const [stepHigh, stepLow] = [1 << high, 1 << low]
  const [aboveUpper, aboveLower] = [-Math.max(stepHigh, stepLow), -Math.min(stepHigh, stepLow)]
  const [to0, to1, to2, to3] = to.map((place) => (place >> 1) * stepHigh + (place & 1) * stepLow) as [
    number,
    number,
    number,
    number
  ]
  const quarter = re.length >> 2
  for (let t = 0; t < quarter; t++) {
    const a = (t + (t & aboveLower)) | 0
    const i = (a + (a & aboveUpper)) | 0
    const j = (i + stepLow) | 0
    const k = (i + stepHigh) | 0
    const l = (k + stepLow) | 0
    const wr = re[i]!
    const wi = im[i]!
    const pr = re[j]!
    const pi = im[j]!
    const xr = ar * pr - ai * pi
    const xi = ar * pi + ai * pr
    const qr = re[k]!
    const qi = im[k]!
    const yr = br * qr - bi * qi
    const yi = br * qi + bi * qr
    const rr = re[l]!
    const ri = im[l]!
    const zr = cr * rr - ci * ri
    const zi = cr * ri + ci * rr
    // The higher qubit, in both values of the lower one.
    const ur = c1 * wr - s1 * yr
    const ui = c1 * wi - s1 * yi
    const vr = s1 * wr + c1 * yr
    const vi = s1 * wi + c1 * yi
    const mr = c1 * xr - s1 * zr
    const mi = c1 * xi - s1 * zi
    const nr = s1 * xr + c1 * zr
    const ni = s1 * xi + c1 * zi
    // The lower qubit, in both values of the higher one.
    re[(i + to0) | 0] = c2 * ur - s2 * mr
    im[(i + to0) | 0] = c2 * ui - s2 * mi
    const gr = s2 * ur + c2 * mr
    const gi = s2 * ui + c2 * mi
    re[(i + to1) | 0] = dr * gr - di * gi
    im[(i + to1) | 0] = dr * gi + di * gr
    const hr = c2 * vr - s2 * nr
    const hi = c2 * vi - s2 * ni
    re[(i + to2) | 0] = er * hr - ei * hi
    im[(i + to2) | 0] = er * hi + ei * hr
    const or = s2 * vr + c2 * nr
    const oi = s2 * vi + c2 * ni
    re[(i + to3) | 0] = fr * or - fi * oi
    im[(i + to3) | 0] = fr * oi + fi * or
  }
}

const isX = ([a, b, c, d, e, f, g, h]: Matrix2): boolean =>
  a === 0 && b === 0 && c === 1 && d === 0 && e === 1 && f === 0 && g === 0 && h === 0

function controlled({ re, im }: State, { at, mask, value, matrix }: Kernel & { kind: 'controlled' }): void {
  const [a, b, c, d, e, f, g, h] = matrix
  const step = 1 << at
  // Every index whose bits of the mask have the value and whose bit of the target is 0, in ascending order.
  const fixed = mask | step
  const last = (re.length - 1) & ~fixed
  for (let free = 0; ; free = ((free | fixed) + 1) & ~fixed) {
    const i = free | value
    const j = i | step
    const xr = re[i]!
    const xi = im[i]!
    const yr = re[j]!
    const yi = im[j]!
    re[i] = a * xr - b * xi + c * yr - d * yi
    im[i] = a * xi + b * xr + c * yi + d * yr
    re[j] = e * xr - f * xi + g * yr - h * yi
    im[j] = e * xi + f * xr + g * yi + h * yr
    if (free === last) return
  }
}

function controlledX({ re, im }: State, { at, mask, value }: Kernel & { kind: 'controlled' }): void {
  const step = 1 << at
  const fixed = mask | step
  const last = (re.length - 1) & ~fixed
  for (let free = 0; ; free = ((free | fixed) + 1) & ~fixed) {
    const i = free | value
    const j = i | step
    const xr = re[i]!
    const xi = im[i]!
    re[i] = re[j]!
    im[i] = im[j]!
    re[j] = xr
    im[j] = xi
    if (free === last) return
  }
}

function phase({ re, im }: State, { mask, value, re: a, im: b }: Kernel & { kind: 'phase' }): void {
  const last = (re.length - 1) & ~mask
  for (let free = 0; ; free = ((free | mask) + 1) & ~mask) {
    const i = free | value
    const xr = re[i]!
    const xi = im[i]!
    re[i] = a * xr - b * xi
    im[i] = a * xi + b * xr
    if (free === last) return
  }
}

function swap({ re, im }: State, { high, low, mask, value }: Kernel & { kind: 'swap' }): void {
  const [first, second] = [1 << high, 1 << low]
  const fixed = mask | first | second
  const last = (re.length - 1) & ~fixed
  for (let free = 0; ; free = ((free | fixed) + 1) & ~fixed) {
    const i = free | value | first
    const j = free | value | second
    const xr = re[i]!
    const xi = im[i]!
    re[i] = re[j]!
    im[i] = im[j]!
    re[j] = xr
    im[j] = xi
    if (free === last) return
  }
}
