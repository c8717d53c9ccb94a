// Converts a provider's results to counts by canonical bit string: bit k of the string is the program's classical bit
// k, and for a circuit that measures everything also qubit k. Bit 0 is leftmost.

/**
 * How a provider's bits map to canonical ones, as the executor's compiler reports: `own[bits[k]]` is bit k. With kind
 * `qubits`, `own[i]` is qubit i; with `clbits`, `own` is the program's registers in sequence, bit 0 of each first. With
 * `sites`, for analog programs, `own[i]` is the letter of site i (`countsOfSites`).
 */
export interface Readout {
  kind: 'qubits' | 'clbits' | 'sites'
  bits: readonly number[]
  /** With `clbits`: the program's registers, in the order of `own`. */
  registers?: readonly { name: string; size: number }[]
}

/** As the metadata of a result states it. */
export const bitOrderOf = ({ kind }: Readout): 'qubit 0 leftmost' | 'site order' =>
  kind === 'sites' ? 'site order' : 'qubit 0 leftmost'

/** @param own a provider's bits, index 0 first. @throws Error when a bit of the readout is missing. */
export function canonicalBits(own: string, { bits }: Readout): string {
  let text = ''
  for (const at of bits) {
    const bit = own[at]
    if (bit !== '0' && bit !== '1') throw new Error(`the provider's result has no bit ${at}`)
    text += bit
  }
  return text
}

/** One measurement of an analog program: what was seen at each site before and after the program, 1 for an atom. */
export interface SiteShot {
  status: string
  before: readonly number[] | null
  after: readonly number[] | null
}

/**
 * Counts by the states of the sites, a letter each: `e` empty, no atom before the program; `g` in the ground state, the
 * atom is still seen; `r` in the Rydberg state, the atom is no longer seen (nor is a lost one). Only shots with the status
 * `Success` count, since others may have been measured after something else.
 * @returns also how many shots were left out.
 * @throws Error for a successful shot that does not show every site.
 */
export function countsOfSites(
  shots: Iterable<SiteShot>,
  { bits }: Readout
): { counts: Map<string, number>; leftOut: number } {
  const counts = new Map<string, number>()
  let leftOut = 0
  for (const { status, before, after } of shots) {
    if (status !== 'Success') {
      leftOut += 1
      continue
    }
    if (before?.length !== bits.length || after?.length !== bits.length)
      throw new Error(`the provider's result shows other sites than the program's ${bits.length}`)
    const states = bits.map((site) => stateOf(before[site], after[site])).join('')
    counts.set(states, (counts.get(states) ?? 0) + 1)
  }
  return { counts, leftOut }
}

function stateOf(before: number | undefined, after: number | undefined): 'e' | 'g' | 'r' {
  for (const seen of [before, after])
    if (seen !== 0 && seen !== 1) throw new Error(`the provider's result holds ${seen} for a site, not 0 or 1`)
  if (before === 0) return 'e'
  return after === 1 ? 'g' : 'r'
}

/** For the warnings of a result; `null` when every shot counts. */
export const leftOutText = (leftOut: number, shots: number): string | null =>
  leftOut === 0 ? null : `${leftOut} of ${shots} shots did not succeed at the provider; they are left out of the counts`

/**
 * The bits of an integer whose bit i is qubit i, qubit 0 first.
 * @param value decimal or 0x...
 * @throws Error when it has more than `width` bits.
 */
export function bitsOfInteger(value: string, width: number): string {
  const text = BigInt(value).toString(2).padStart(width, '0')
  if (text.length > width || value.startsWith('-')) throw new Error(`the provider's result is wider than ${width} bits`)
  return [...text].reverse().join('')
}

/** Adds the values of equal bit strings. A provider can return several when not every qubit is read. */
export function addUp(entries: Iterable<readonly [string, number]>): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [bits, value] of entries) sums.set(bits, (sums.get(bits) ?? 0) + value)
  return sums
}

/**
 * Converts probabilities to whole counts by largest remainder: their sum is exactly `shots`, and each is off by less
 * than one. Equal remainders go to the bit string that sorts first, so the same probabilities always give the same
 * counts.
 * @throws Error when a value is not a probability, or they do not sum to 1 within 1e-3.
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
    // A value within rounding error of a whole number counts as that number.
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

/** Of a count, per shot: a histogram with six decimals differs from whole counts by no more. */
const PRECISION = 1e-6
/** In more shots than this allows, rounding could hide a fraction. */
const OFF_MAX = 0.01

/**
 * The counts behind a histogram, when its values are whole numbers of shots within its precision.
 * @returns `null` when they are not: the provider computed them (by error mitigation, or from a state), or counted another
 * number of shots.
 */
export function countsOfHistogram(histogram: ReadonlyMap<string, number>, shots: number): Map<string, number> | null {
  const off = Math.min(PRECISION * shots, OFF_MAX)
  const counts = new Map<string, number>()
  let sum = 0
  for (const [bits, share] of [...histogram].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const count = Math.round(share * shots)
    if (!(count >= 0) || Math.abs(share * shots - count) > off) return null
    if (count > 0) counts.set(bits, count)
    sum += count
  }
  return sum === shots ? counts : null
}
