// Turns gates into as few passes over the state as possible: gates that follow one another on the same one or two qubits
// are multiplied into one matrix first.
import type { GateOperation } from '../../circuit/circuit.js'
import { gateMatrix, type Matrix2, product } from '../../circuit/matrix2.js'
import type { Kernel, Matrix4 } from './kernels.js'
import { type Complex, isExchange, type Turned, times, turnedPair } from './turned-pair.js'

/** Gates on one or two qubits that are not applied yet; the first qubit is the higher bit of the matrix's index. */
interface Block {
  qubits: readonly [number] | readonly [number, number]
  matrix: Matrix2 | Matrix4
  /** The one gate that the block consists of, where a loop of its own is faster than a matrix. */
  alone: Kernel | null
  /** The block as a matrix on each of its two qubits and then an exchange, where it begins with that. */
  turned: Turned | null
  /** What comes after the exchange, for each of the qubits: another block may take it along. */
  following: Map<number, Matrix2>
}

const IDENTITY: Matrix2 = [1, 0, 0, 0, 0, 0, 1, 0]

export class Fusion {
  readonly #qubits: number
  readonly #open = new Map<number, Block>()
  readonly #kernels: Kernel[] = []
  /** A factor of the whole state, which no measurement sees. */
  #factor: Complex = [1, 0]

  constructor(qubits: number) {
    this.#qubits = qubits
  }

  add(gate: GateOperation): void {
    const touched = [...gate.controls.map(({ qubit }) => qubit), ...gate.targets]
    if (gate.name === 'id' && gate.controls.length === 0) return
    if (gate.targets.length === 0 && gate.controls.length === 0)
      this.#leaveOut([Math.cos(gate.angles[0]!), Math.sin(gate.angles[0]!)])
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

  /** What the passes leave out. Only the amplitudes of a result show it. */
  takeFactor(): Kernel[] {
    const [re, im] = this.#factor
    this.#factor = [1, 0]
    return re === 1 && im === 0 ? [] : [{ kind: 'phase', mask: 0, value: 0, re, im }]
  }

  #leaveOut(factor: Complex): void {
    this.#factor = times(factor, this.#factor)
  }

  #addOne(qubit: number, gate: GateOperation): void {
    const matrix = oneQubitMatrix(gate)
    const block = this.#open.get(qubit)
    if (block === undefined) this.#openOne(qubit, matrix)
    else if (block.qubits.length === 1) block.matrix = product(matrix, block.matrix as Matrix2)
    else {
      const [high] = block.qubits
      const wide = qubit === high ? tensor(matrix, IDENTITY) : tensor(IDENTITY, matrix)
      block.matrix = product4(wide, block.matrix as Matrix4)
      const before = block.following.get(qubit)
      block.following.set(qubit, before === undefined ? matrix : product(matrix, before))
    }
  }

  #addTwo(gate: GateOperation, [high, low]: readonly [number, number]): void {
    const [first, second] = [this.#open.get(high), this.#open.get(low)]
    if (first !== undefined && first === second) {
      const [own] = first.qubits
      const matrix = own === high ? twoQubitMatrix(gate, high, low) : twoQubitMatrix(gate, low, high)
      first.matrix = product4(matrix, first.matrix as Matrix4)
      first.alone = null
      const isStill = first.turned !== null && first.following.size === 0 && isExchange(matrix)
      first.turned = isStill ? { ...first.turned!, exchange: product4(matrix, first.turned!.exchange) } : null
      return
    }
    const before = [high, low].map((qubit) => this.#takeBefore(qubit))
    const own = twoQubitMatrix(gate, high, low)
    const isAlone = before.every((one) => one === null)
    const [ofHigh, ofLow] = [before[0] ?? IDENTITY, before[1] ?? IDENTITY]
    const block: Block = {
      qubits: [high, low],
      matrix: isAlone ? own : product4(own, tensor(ofHigh, ofLow)),
      alone: isAlone ? this.#alone(gate) : null,
      turned: isExchange(own) ? { high: ofHigh, low: ofLow, exchange: own } : null,
      following: new Map()
    }
    this.#open.set(high, block)
    this.#open.set(low, block)
  }

  /** What a block that begins on a qubit takes along: the gates on that qubit alone, if there are any. */
  #takeBefore(qubit: number): Matrix2 | null {
    const block = this.#open.get(qubit)
    if (block === undefined) return null
    if (block.qubits.length === 2) {
      const following = block.turned === null ? [] : [...block.following]
      if (block.turned !== null) block.following.clear()
      this.#close(qubit)
      for (const [one, matrix] of following) this.#openOne(one, matrix)
    }
    const own = this.#open.get(qubit)
    this.#open.delete(qubit)
    return own === undefined ? null : (own.matrix as Matrix2)
  }

  #openOne(qubit: number, matrix: Matrix2): void {
    this.#open.set(qubit, { qubits: [qubit], matrix, alone: null, turned: null, following: new Map() })
  }

  #close(qubit: number): void {
    const block = this.#open.get(qubit)
    if (block === undefined) return
    for (const one of block.qubits) this.#open.delete(one)
    const [high, low] = block.qubits
    const isWhole = block.following.size === 0
    if (low === undefined) this.#kernels.push({ kind: 'one', at: this.#bit(high), matrix: block.matrix as Matrix2 })
    else if (isWhole && block.alone !== null) this.#kernels.push(block.alone)
    else if (isWhole && block.turned !== null) {
      const { pass, factor } = turnedPair(block.turned, { high: this.#bit(high), low: this.#bit(low) })
      this.#kernels.push(pass)
      this.#leaveOut(factor)
    } else {
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
