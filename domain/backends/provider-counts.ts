// From a provider's results to counts by canonical bit string: bit k of the string is the program's classical bit k, and
// for a circuit that measures everything also qubit k. Leftmost is bit 0.

/**
 * How the executor's compiler says a provider's bits become ours: `own[bits[k]]` is bit k. With kind `qubits`, `own[i]` is
 * qubit i; with `clbits`, `own` is the program's registers one after another, bit 0 of each first.
 */
export interface Readout {
  kind: 'qubits' | 'clbits'
  bits: readonly number[]
}

/** @param own a provider's bits, index 0 first. @throws Error when it has fewer than the readout asks for. */
export function canonicalBits(own: string, { bits }: Readout): string {
  let text = ''
  for (const at of bits) {
    const bit = own[at]
    if (bit !== '0' && bit !== '1') throw new Error(`the provider's result has no bit ${at}`)
    text += bit
  }
  return text
}

/** The bits of an integer in which bit i is qubit i, qubit 0 first. @param value decimal or 0x... @throws Error when it is wider. */
export function bitsOfInteger(value: string, width: number): string {
  const text = BigInt(value).toString(2).padStart(width, '0')
  if (text.length > width || value.startsWith('-')) throw new Error(`the provider's result is wider than ${width} bits`)
  return [...text].reverse().join('')
}

/** Adds up what falls on one bit string: several results of the provider may, when not every qubit is read. */
export function addUp(entries: Iterable<readonly [string, number]>): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [bits, value] of entries) sums.set(bits, (sums.get(bits) ?? 0) + value)
  return sums
}

/**
 * Whole counts from probabilities, by largest remainder: their sum is exactly `shots`, and none is off by one or more. Equal
 * remainders go to the bit string that sorts first, so that the same probabilities always give the same counts.
 * @throws Error when they are no probabilities or do not sum to 1 within 1e-3.
 */
export function countsOfProbabilities(probabilities: ReadonlyMap<string, number>, shots: number): Map<string, number> {
  let sum = 0
  for (const probability of probabilities.values()) {
    if (!Number.isFinite(probability) || probability < -1e-9 || probability > 1 + 1e-3)
      throw new Error(`the provider's result holds ${probability} as a probability`)
    sum += probability
  }
  if (Math.abs(sum - 1) > 1e-3) throw new Error(`the provider's probabilities sum to ${sum}, not 1`)
  const shares = [...probabilities].map(([bits, probability]) => {
    const exact = (Math.max(0, probability) / sum) * shots
    // What lies within rounding of a whole number is that number.
    const whole = Math.floor(exact + 1e-7)
    return { bits, whole, rest: Math.max(0, exact - whole) }
  })
  let left = shots - shares.reduce((total, share) => total + share.whole, 0)
  shares.sort((a, b) => b.rest - a.rest || (a.bits < b.bits ? -1 : 1))
  for (const share of shares) {
    if (left === 0) break
    share.whole += 1
    left -= 1
  }
  return new Map(
    shares
      .filter(({ whole }) => whole > 0)
      .sort((a, b) => (a.bits < b.bits ? -1 : 1))
      .map(({ bits, whole }) => [bits, whole])
  )
}
