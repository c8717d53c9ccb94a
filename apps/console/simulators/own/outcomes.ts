// Reads outcomes from the states at the end of a run: exact probabilities, and samples by cumulative sums.
import type { Random } from '../../../../domain/verification/statistics/random.js'
import type { Circuit } from '../../circuit/circuit.js'
import { PROBABILITIES_MAX } from '../limits.js'
import type { Leaf } from './branches.js'
import type { State } from './kernels.js'

const ZERO = '0'.charCodeAt(0)

/** Collects the outcomes of all ways that a run takes. */
export class Outcomes {
  readonly #counts = new Map<string, number>()
  /** Null once there are too many outcomes, or where not all of them are followed. */
  #probabilities: Map<string, number> | null
  /** The classical bits that an outcome shows, from left to right. */
  readonly #shown: readonly number[]
  /** The qubits that the bits at the end show, ascending. */
  readonly #read: readonly number[]
  /** For each shown bit, which bit of a value of those qubits it is; -1 for one that was measured earlier. */
  readonly #shifts: Int32Array
  /** The characters of one outcome. */
  readonly #codes: number[]
  readonly #qubits: number
  readonly #random: Random

  /** @param atEnd the qubit that each classical bit shows which is read at the end. */
  constructor(circuit: Circuit, atEnd: ReadonlyMap<number, number>, random: Random, isExact = true) {
    this.#probabilities = isExact ? new Map() : null
    this.#shown = circuit.outcome.flatMap(({ clbits }) => clbits)
    this.#qubits = circuit.qubits
    this.#random = random
    this.#read = [...new Set(atEnd.values())].sort((a, b) => a - b)
    this.#shifts = Int32Array.from(this.#shown, (clbit) => {
      const qubit = atEnd.get(clbit)
      return qubit === undefined ? -1 : this.#read.length - 1 - this.#read.indexOf(qubit)
    })
    this.#codes = new Array(this.#shown.length).fill(ZERO)
  }

  add({ state, bits, probability, shots }: Leaf): void {
    const weights = marginal(state, this.#qubits, this.#read)
    if (this.#probabilities !== null) this.#addProbabilities(weights, bits, probability)
    if (shots === 0) return
    const counts = sampled(weights, shots, this.#random)
    // By value, which most often is the order of the outcomes too.
    for (const value of Int32Array.from(counts.keys()).sort()) {
      const key = this.#key(value, bits)
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + counts.get(value)!)
    }
  }

  /** By outcome. */
  result(): { counts: Record<string, number>; probabilities: Record<string, number> | null } {
    return {
      counts: sorted(this.#counts),
      probabilities: this.#probabilities && sorted(this.#probabilities)
    }
  }

  #addProbabilities(weights: Float64Array, bits: Uint8Array, probability: number): void {
    const found = this.#probabilities!
    if (weights.length > PROBABILITIES_MAX) {
      this.#probabilities = null
      return
    }
    for (let value = 0; value < weights.length; value++) {
      const weight = weights[value]!
      if (weight === 0) continue
      const key = this.#key(value, bits)
      found.set(key, (found.get(key) ?? 0) + weight * probability)
    }
    if (found.size > PROBABILITIES_MAX) this.#probabilities = null
  }

  /** An outcome as the counts show it; `value` holds the read qubits, the first as the highest bit. */
  #key(value: number, bits: Uint8Array): string {
    for (let place = 0; place < this.#codes.length; place++) {
      const shift = this.#shifts[place]!
      this.#codes[place] = ZERO + (shift < 0 ? bits[this.#shown[place]!]! : (value >> shift) & 1)
    }
    return String.fromCharCode(...this.#codes)
  }
}

/** The probabilities of the values of some qubits, by the index whose highest bit is the first of them. */
function marginal({ re, im }: State, qubits: number, read: readonly number[]): Float64Array {
  const size = re.length
  const weights = new Float64Array(2 ** read.length)
  if (read.length === qubits) {
    for (let i = 0; i < size; i++) weights[i] = re[i]! * re[i]! + im[i]! * im[i]!
    return weights
  }
  // Two tables of half the bits each replace a loop over the qubits for each amplitude.
  const low = qubits >> 1
  const gathered = (from: number, count: number): Int32Array =>
    Int32Array.from({ length: 2 ** count }, (_, value) =>
      read.reduce((sum, qubit, place) => {
        const at = qubits - 1 - qubit - from
        const isHere = at >= 0 && at < count
        return isHere && (value >> at) & 1 ? sum | (1 << (read.length - 1 - place)) : sum
      }, 0)
    )
  const [lower, upper] = [gathered(0, low), gathered(low, qubits - low)]
  const mask = (1 << low) - 1
  for (let i = 0; i < size; i++) weights[upper[i >> low]! | lower[i & mask]!]! += re[i]! * re[i]! + im[i]! * im[i]!
  return weights
}

/** Draws values by their weights, and counts them; the weights become their cumulative sums. */
function sampled(weights: Float64Array, shots: number, random: Random): Map<number, number> {
  let total = 0
  let last = 0
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!
    total += weight
    weights[i] = total
    if (weight > 0) last = i
  }
  const counts = new Map<number, number>()
  for (let shot = 0; shot < shots; shot++) {
    const wanted = random.uniform() * total
    // The first value whose sum is above what is wanted: one without weight is never it.
    let [low, high] = [0, last]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (weights[middle]! > wanted) high = middle
      else low = middle + 1
    }
    counts.set(low, (counts.get(low) ?? 0) + 1)
  }
  return counts
}

/** Qubit 0 is leftmost, so that the order of the texts is that of the indices. */
function sorted(values: ReadonlyMap<string, number>): Record<string, number> {
  const keys = [...values.keys()]
  const isSorted = keys.every((key, at) => at === 0 || keys[at - 1]! < key)
  if (!isSorted) keys.sort()
  // Without a prototype an object is a plain table from the first key on: thousands are many times faster.
  const result: Record<string, number> = Object.create(null)
  for (const key of keys) result[key] = values.get(key)!
  return result
}
