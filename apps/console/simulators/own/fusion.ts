// Turns gates into as few passes over the state as possible: gates that follow one another on the same one or two qubits
// are multiplied into one matrix first.
import type { GateOperation } from '../../circuit/circuit.js'
import { gateMatrix, type Matrix2, product } from '../../circuit/matrix2.js'
import type { Kernel, Matrix4 } from './kernels.js'

/** Gates on one or two qubits that are not applied yet; the first qubit is the higher bit of the matrix's index. */
interface Block {
  qubits: readonly [number] | readonly [number, number]
  matrix: Matrix2 | Matrix4
  /** The one gate that the block consists of, where a loop of its own is faster than a matrix. */
  alone: Kernel | null
}

const IDENTITY: Matrix2 = [1, 0, 0, 0, 0, 0, 1, 0]

export class Fusion {
  readonly #qubits: number
  readonly #open = new Map<number, Block>()
  readonly #kernels: Kernel[] = []

  constructor(qubits: number) {
    this.#qubits = qubits
  }

  add(gate: GateOperation): void {
    const touched = [...gate.controls.map(({ qubit }) => qubit), ...gate.targets]
    if (gate.name === 'id' && gate.controls.length === 0) return
    if (gate.targets.length === 0 && gate.controls.length === 0) this.#kernels.push(this.#alone(gate))
    else if (touched.length === 1) this.#addOne(touched[0]!, gate)
    else if (touched.length === 2) this.#addTwo(gate, [touched[0]!, touched[1]!])
    else {
      for (const qubit of touched) this.#close(qubit)
      this.#kernels.push(this.#alone(gate))
    }
  }

  /** The passes for all gates so far. */
  finish(): Kernel[] {
    for (const qubit of [...this.#open.keys()]) this.#close(qubit)
    return this.#kernels.splice(0)
  }

  #addOne(qubit: number, gate: GateOperation): void {
    const matrix = oneQubitMatrix(gate)
    const block = this.#open.get(qubit)
    if (block === undefined) this.#open.set(qubit, { qubits: [qubit], matrix, alone: null })
    else if (block.qubits.length === 1) block.matrix = product(matrix, block.matrix as Matrix2)
    else {
      const [high] = block.qubits
      const wide = qubit === high ? tensor(matrix, IDENTITY) : tensor(IDENTITY, matrix)
      this.#multiply(block, wide)
    }
  }

  #addTwo(gate: GateOperation, [high, low]: readonly [number, number]): void {
    const [first, second] = [this.#open.get(high), this.#open.get(low)]
    if (first !== undefined && first === second) {
      const [own] = first.qubits
      this.#multiply(first, own === high ? twoQubitMatrix(gate, high, low) : twoQubitMatrix(gate, low, high))
      return
    }
    const before = [first, second].map((block, place) => {
      if (block === undefined) return null
      if (block.qubits.length === 1) return block.matrix as Matrix2
      this.#close(place === 0 ? high : low)
      return null
    })
    let matrix = twoQubitMatrix(gate, high, low)
    const isAlone = before.every((one) => one === null)
    if (!isAlone) matrix = product4(matrix, tensor(before[0] ?? IDENTITY, before[1] ?? IDENTITY))
    const block: Block = { qubits: [high, low], matrix, alone: isAlone ? this.#alone(gate) : null }
    this.#open.set(high, block)
    this.#open.set(low, block)
  }

  #multiply(block: Block, matrix: Matrix4): void {
    block.matrix = product4(matrix, block.matrix as Matrix4)
    block.alone = null
  }

  #close(qubit: number): void {
    const block = this.#open.get(qubit)
    if (block === undefined) return
    for (const one of block.qubits) this.#open.delete(one)
    const [high, low] = block.qubits
    if (block.alone !== null) this.#kernels.push(block.alone)
    else if (low === undefined)
      this.#kernels.push({ kind: 'one', at: this.#bit(high), matrix: block.matrix as Matrix2 })
    else {
      this.#kernels.push({ kind: 'two', high: this.#bit(high), low: this.#bit(low), matrix: block.matrix as Matrix4 })
    }
  }

  /** A gate as a pass of its own. */
  #alone({ name, angles, controls, targets }: GateOperation): Kernel {
    let [mask, value] = [0, 0]
    for (const control of controls) {
      mask |= 1 << this.#bit(control.qubit)
      value |= control.value << this.#bit(control.qubit)
    }
    const [first, second] = targets
    if (first === undefined) return { kind: 'phase', mask, value, re: Math.cos(angles[0]!), im: Math.sin(angles[0]!) }
    if (second !== undefined) return { kind: 'swap', high: this.#bit(first), low: this.#bit(second), mask, value }
    const matrix = gateMatrix(name, angles)
    const [a, b, c, d, e, f, re, im] = matrix
    const at = this.#bit(first)
    if (a === 1 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0) {
      return { kind: 'phase', mask: mask | (1 << at), value: value | (1 << at), re, im }
    }
    return { kind: 'controlled', at, mask, value, matrix }
  }

  /** Qubit 0 is the highest bit of an index. */
  #bit(qubit: number): number {
    return this.#qubits - 1 - qubit
  }
}

/** The matrix of a gate that touches one qubit: as its target, or as the control of a phase. */
function oneQubitMatrix({ name, angles, controls }: GateOperation): Matrix2 {
  const [control] = controls
  if (control === undefined) return gateMatrix(name, angles)
  const [re, im] = [Math.cos(angles[0]!), Math.sin(angles[0]!)]
  return control.value === 1 ? [1, 0, 0, 0, 0, 0, re, im] : [re, im, 0, 0, 0, 0, 1, 0]
}

/** The matrix of a gate that touches two qubits. */
function twoQubitMatrix({ name, angles, controls, targets }: GateOperation, high: number, low: number): Matrix4 {
  const matrix = new Float64Array(32)
  const [control, other] = controls
  for (let column = 0; column < 4; column++) {
    const bits = new Map([
      [high, column >> 1],
      [low, column & 1]
    ])
    const active = controls.every(({ qubit, value }) => bits.get(qubit) === value)
    if (!active) matrix[10 * column] = 1
    else if (control !== undefined && other !== undefined) {
      matrix[10 * column] = Math.cos(angles[0]!)
      matrix[10 * column + 1] = Math.sin(angles[0]!)
    } else if (targets.length === 2) {
      const row = ((column & 1) << 1) | (column >> 1)
      matrix[8 * row + 2 * column] = 1
    } else {
      const target = targets[0]!
      const elements = gateMatrix(name, angles)
      const bit = bits.get(target)!
      for (const row of [0, 1]) {
        const full = target === high ? (row << 1) | (column & 1) : (column & 2) | row
        matrix[8 * full + 2 * column] = elements[4 * row + 2 * bit]!
        matrix[8 * full + 2 * column + 1] = elements[4 * row + 2 * bit + 1]!
      }
    }
  }
  return matrix
}

function tensor(high: Matrix2, low: Matrix2): Matrix4 {
  const matrix = new Float64Array(32)
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 4; column++) {
      const [i, j] = [4 * (row >> 1) + 2 * (column >> 1), 4 * (row & 1) + 2 * (column & 1)]
      matrix[8 * row + 2 * column] = high[i]! * low[j]! - high[i + 1]! * low[j + 1]!
      matrix[8 * row + 2 * column + 1] = high[i]! * low[j + 1]! + high[i + 1]! * low[j]!
    }
  }
  return matrix
}

/** The matrix of `second` after `first`. */
function product4(second: Matrix4, first: Matrix4): Matrix4 {
  const matrix = new Float64Array(32)
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 4; column++) {
      let [re, im] = [0, 0]
      for (let k = 0; k < 4; k++) {
        const [i, j] = [8 * row + 2 * k, 8 * k + 2 * column]
        re += second[i]! * first[j]! - second[i + 1]! * first[j + 1]!
        im += second[i]! * first[j + 1]! + second[i + 1]! * first[j]!
      }
      matrix[8 * row + 2 * column] = re
      matrix[8 * row + 2 * column + 1] = im
    }
  }
  return matrix
}
