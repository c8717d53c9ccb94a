// The state of n qubits as 2^n complex amplitudes. Qubit k is bit k of an amplitude's index, so |q2 q1 q0> = 001 (index 1)
// means "qubit 0 is one". This simulator belongs to the emulators alone, so that an adapter's mistake in a bit order or a
// dialect is not repeated here.

/** A complex number: real and imaginary part. */
export type Complex = readonly [re: number, im: number]
/** Rows of a square matrix. */
export type Matrix = readonly (readonly Complex[])[]
export type Pauli = 'I' | 'X' | 'Y' | 'Z'

/** 2^22 amplitudes are 64 MiB and about 50 ms per gate: the emulator's responses to polls are late, but not lost. */
export const QUBITS_MAX = 22

export class StateVector {
  readonly re: Float64Array
  readonly im: Float64Array

  /** All qubits zero. @throws RangeError above QUBITS_MAX. */
  constructor(readonly qubits: number) {
    if (!(qubits >= 0 && qubits <= QUBITS_MAX))
      throw new RangeError(`qubits must be from 0 to ${QUBITS_MAX} (got ${qubits})`)
    this.re = new Float64Array(2 ** qubits)
    this.im = new Float64Array(2 ** qubits)
    this.re[0] = 1
  }

  /**
   * Applies a matrix of 2^m rows to m targets where every control is one. The first target is the leftmost digit of a row's
   * number: row 2 of 4 (binary 10) means "targets[0] is one, targets[1] is zero".
   */
  apply(matrix: Matrix, targets: readonly number[], controls: readonly number[] = []): void {
    this.check([...targets, ...controls])
    const { re, im } = this
    const size = 2 ** targets.length
    if (matrix.length !== size) throw new RangeError(`${matrix.length} rows do not fit ${targets.length} targets`)
    if (targets.length === 1) {
      this.applyToOne(matrix, targets[0]!, maskOf(controls))
      return
    }
    const bits = targets.map((target) => 1 << target)
    const places = Array.from({ length: size }, (_, row) =>
      bits.reduce((place, bit, index) => ((row >> (targets.length - 1 - index)) & 1 ? place | bit : place), 0)
    )
    const targetMask = bits.reduce((mask, bit) => mask | bit, 0)
    const controlMask = maskOf(controls)
    const flat = matrix.map((row) => ({ re: row.map(([real]) => real), im: row.map(([, imaginary]) => imaginary) }))
    const oldRe = new Float64Array(size)
    const oldIm = new Float64Array(size)
    for (let base = 0; base < re.length; base++) {
      if ((base & targetMask) !== 0 || (base & controlMask) !== controlMask) continue
      for (let column = 0; column < size; column++) {
        oldRe[column] = re[base | places[column]!]!
        oldIm[column] = im[base | places[column]!]!
      }
      for (let row = 0; row < size; row++) {
        const factors = flat[row]!
        let sumRe = 0
        let sumIm = 0
        for (let column = 0; column < size; column++) {
          sumRe += factors.re[column]! * oldRe[column]! - factors.im[column]! * oldIm[column]!
          sumIm += factors.re[column]! * oldIm[column]! + factors.im[column]! * oldRe[column]!
        }
        re[base | places[row]!] = sumRe
        im[base | places[row]!] = sumIm
      }
    }
  }

  // The same for one target, several times faster: most gates have one target.
  private applyToOne(matrix: Matrix, target: number, controlMask: number): void {
    const { re, im } = this
    const [[a, b], [c, d]] = matrix as readonly [readonly [Complex, Complex], readonly [Complex, Complex]]
    const [[aRe, aIm], [bRe, bIm], [cRe, cIm], [dRe, dIm]] = [a, b, c, d]
    const bit = 1 << target
    for (let block = 0; block < re.length; block += 2 * bit) {
      for (let zero = block; zero < block + bit; zero++) {
        if ((zero & controlMask) !== controlMask) continue
        const one = zero + bit
        const zeroRe = re[zero]!
        const zeroIm = im[zero]!
        const oneRe = re[one]!
        const oneIm = im[one]!
        re[zero] = aRe * zeroRe - aIm * zeroIm + bRe * oneRe - bIm * oneIm
        im[zero] = aRe * zeroIm + aIm * zeroRe + bRe * oneIm + bIm * oneRe
        re[one] = cRe * zeroRe - cIm * zeroIm + dRe * oneRe - dIm * oneIm
        im[one] = cRe * zeroIm + cIm * zeroRe + dRe * oneIm + dIm * oneRe
      }
    }
  }

  /** exp(-i angle P) where every control is one; P has one Pauli per target, in order. `angle` in radians. */
  rotate(paulis: readonly Pauli[], angle: number, targets: readonly number[], controls: readonly number[] = []): void {
    this.check([...targets, ...controls])
    if (paulis.length !== targets.length) throw new RangeError(`${paulis.length} Paulis for ${targets.length} targets`)
    const { re, im } = this
    const ofKind = (...kinds: Pauli[]) => maskOf(targets.filter((_, index) => kinds.includes(paulis[index]!)))
    const flips = ofKind('X', 'Y')
    const signs = ofKind('Y', 'Z')
    const controlMask = maskOf(controls)
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
    // P|b> = i^(number of Y) (-1)^(ones of b under Y and Z) |b with X and Y flipped>.
    const turns = paulis.filter((pauli) => pauli === 'Y').length % 4
    const [turnRe, turnIm] = (
      [
        [1, 0],
        [0, 1],
        [-1, 0],
        [0, -1]
      ] as const
    )[turns as 0 | 1 | 2 | 3]
    for (let index = 0; index < re.length; index++) {
      const partner = index ^ flips
      if (partner < index || (index & controlMask) !== controlMask) continue
      const aRe = re[index]!
      const aIm = im[index]!
      const bRe = re[partner]!
      const bIm = im[partner]!
      // new[i] = cos old[i] - i sin <i|P|partner> old[partner], and <i|P|partner> is the turn and the partner's sign.
      const fromB = sin * parity(partner & signs)
      re[index] = cos * aRe + fromB * (turnRe * bIm + turnIm * bRe)
      im[index] = cos * aIm - fromB * (turnRe * bRe - turnIm * bIm)
      if (partner === index) continue
      const fromA = sin * parity(index & signs)
      re[partner] = cos * bRe + fromA * (turnRe * aIm + turnIm * aRe)
      im[partner] = cos * bIm - fromA * (turnRe * aRe - turnIm * aIm)
    }
  }

  copy(): StateVector {
    const copied = new StateVector(this.qubits)
    copied.re.set(this.re)
    copied.im.set(this.im)
    return copied
  }

  /**
   * Measures a qubit, after which the state is that of the outcome.
   * @param random from 0 to 1, exclusive: it is one if this is below the probability of one.
   */
  measure(qubit: number, random: number): 0 | 1 {
    this.check([qubit])
    const { re, im } = this
    const bit = 1 << qubit
    let [zero, one] = [0, 0]
    for (let index = 0; index < re.length; index++) {
      const weight = re[index]! * re[index]! + im[index]! * im[index]!
      if (index & bit) one += weight
      else zero += weight
    }
    const outcome = random * (zero + one) < one ? 1 : 0
    const scale = 1 / Math.sqrt(outcome ? one : zero)
    for (let index = 0; index < re.length; index++) {
      const factor = (index & bit ? 1 : 0) === outcome ? scale : 0
      re[index]! *= factor
      im[index]! *= factor
    }
    return outcome
  }

  /** The probability of every index. */
  probabilities(): Float64Array {
    return this.re.map((real, index) => real * real + this.im[index]! * this.im[index]!)
  }

  private check(qubits: readonly number[]): void {
    const outside = qubits.find((qubit) => !Number.isInteger(qubit) || qubit < 0 || qubit >= this.qubits)
    if (outside !== undefined) throw new RangeError(`unknown qubit ${outside} among ${this.qubits}`)
    if (new Set(qubits).size < qubits.length) throw new RangeError(`qubits ${qubits.join(', ')} are not distinct`)
  }
}

const maskOf = (qubits: readonly number[]): number => qubits.reduce((mask, qubit) => mask | (1 << qubit), 0)

function parity(bits: number): 1 | -1 {
  let ones = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) ones++
  return ones % 2 === 0 ? 1 : -1
}
