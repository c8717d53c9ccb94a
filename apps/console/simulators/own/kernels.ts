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
  /** A matrix on one qubit where other bits have given values. */
  | { kind: 'controlled'; at: number; mask: number; value: number; matrix: Matrix2 }
  /** A factor where bits have given values. */
  | { kind: 'phase'; mask: number; value: number; re: number; im: number }
  | { kind: 'swap'; high: number; low: number; mask: number; value: number }

export function applyKernel(state: State, kernel: Kernel): void {
  switch (kernel.kind) {
    case 'one':
      one(state, kernel.at, kernel.matrix)
      break
    case 'two':
      two(state, kernel.high, kernel.low, kernel.matrix)
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
  const size = re.length
  for (let block = 0; block < size; block += 2 * step) {
    const end = block + step
    for (let i = block, j = end; i < end; i++, j++) {
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
}

function two({ re, im }: State, high: number, low: number, matrix: Matrix4): void {
  const [a0, b0, a1, b1, a2, b2, a3, b3] = matrix as unknown as Matrix2
  const [c0, d0, c1, d1, c2, d2, c3, d3] = matrix.subarray(8) as unknown as Matrix2
  const [e0, f0, e1, f1, e2, f2, e3, f3] = matrix.subarray(16) as unknown as Matrix2
  const [g0, h0, g1, h1, g2, h2, g3, h3] = matrix.subarray(24) as unknown as Matrix2
  const [stepHigh, stepLow] = [1 << high, 1 << low]
  const [upper, lower] = [Math.max(stepHigh, stepLow), Math.min(stepHigh, stepLow)]
  const size = re.length
  for (let outer = 0; outer < size; outer += 2 * upper) {
    for (let inner = outer; inner < outer + upper; inner += 2 * lower) {
      for (let i = inner; i < inner + lower; i++) {
        const j = i + stepLow
        const k = i + stepHigh
        const l = k + stepLow
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
  }
}

const isX = ([a, b, c, d, e, f, g, h]: Matrix2): boolean =>
  a === 0 && b === 0 && c === 1 && d === 0 && e === 1 && f === 0 && g === 0 && h === 0

function controlled({ re, im }: State, { at, mask, value, matrix }: Kernel & { kind: 'controlled' }): void {
  const [a, b, c, d, e, f, g, h] = matrix
  const step = 1 << at
  const size = re.length
  for (let block = 0; block < size; block += 2 * step) {
    for (let i = block; i < block + step; i++) {
      if ((i & mask) !== value) continue
      const j = i + step
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
}

function controlledX({ re, im }: State, { at, mask, value }: Kernel & { kind: 'controlled' }): void {
  const step = 1 << at
  const size = re.length
  for (let block = 0; block < size; block += 2 * step) {
    for (let i = block; i < block + step; i++) {
      if ((i & mask) !== value) continue
      const j = i + step
      const xr = re[i]!
      const xi = im[i]!
      re[i] = re[j]!
      im[i] = im[j]!
      re[j] = xr
      im[j] = xi
    }
  }
}

function phase({ re, im }: State, { mask, value, re: a, im: b }: Kernel & { kind: 'phase' }): void {
  const size = re.length
  for (let i = 0; i < size; i++) {
    if ((i & mask) !== value) continue
    const xr = re[i]!
    const xi = im[i]!
    re[i] = a * xr - b * xi
    im[i] = a * xi + b * xr
  }
}

function swap({ re, im }: State, { high, low, mask, value }: Kernel & { kind: 'swap' }): void {
  const [first, second] = [1 << high, 1 << low]
  const size = re.length
  for (let i = 0; i < size; i++) {
    if ((i & first) === 0 || (i & second) !== 0 || (i & mask) !== value) continue
    const j = i ^ first ^ second
    const xr = re[i]!
    const xi = im[i]!
    re[i] = re[j]!
    im[i] = im[j]!
    re[j] = xr
    im[j] = xi
  }
}
