// Distributions over small whole numbers, and how many of `count` independent draws fall on each.
import type { Random } from './random.js'

/** A distribution prepared for many draws; `probabilities[k]` belongs to the number `first + k`. */
export interface DiscreteLaw {
  first: number
  probabilities: Float64Array
  /** The columns of the alias method. */
  keep: Float64Array
  other: Uint32Array
}

/** The tail is cut where its probability relative to the mode falls below this. */
const TAIL = 1e-14
/** How much cheaper a draw by the alias method is than a binomial draw, approximately. */
const ONE_BY_ONE = 8
const { exp, floor, log, log1p, min, PI } = Math
const factorials = logFactorials(1024)

/** The natural logarithm of k!. Above the table by Stirling's series, whose first omitted term is below 1e-22 there. */
export function logFactorial(k: number): number {
  if (k < factorials.length) return factorials[k]!
  const inverse = 1 / k
  const series = inverse * (1 / 12 - inverse * inverse * (1 / 360 - (inverse * inverse) / 1260))
  return k * log(k) - k + 0.5 * log(2 * PI * k) + series
}

function logFactorials(length: number): Float64Array {
  const table = new Float64Array(length)
  for (let k = 1; k < length; k++) table[k] = table[k - 1]! + log(k)
  return table
}

/** Successes in `trials` with probability `p` each, 0 <= p < 1. */
export function binomialLaw(trials: number, p: number): DiscreteLaw {
  if (p <= 0 || trials === 0) return lawOf(0, [1])
  const mode = floor((trials + 1) * p)
  const odds = p / (1 - p)
  const up = (k: number): number => ((trials - k) / (k + 1)) * odds
  return around(mode, trials, up)
}

/** The number of events when `mean` are expected. */
export const poissonLaw = (mean: number): DiscreteLaw =>
  mean <= 0 ? lawOf(0, [1]) : around(floor(mean), Number.POSITIVE_INFINITY, (k) => mean / (k + 1))

/** Expands from the mode outwards until terms vanish; `up(k)` is the probability of k + 1 relative to that of k. */
function around(mode: number, last: number, up: (k: number) => number): DiscreteLaw {
  const below: number[] = []
  for (let k = mode, weight = 1; k > 0; k--) {
    weight /= up(k - 1)
    if (weight < TAIL) break
    below.push(weight)
  }
  const above: number[] = []
  for (let k = mode, weight = 1; k < last; k++) {
    weight *= up(k)
    if (weight < TAIL) break
    above.push(weight)
  }
  return lawOf(mode - below.length, [...below.reverse(), 1, ...above])
}

/** The alias method of Walker, in Vose's form. */
export function lawOf(first: number, weights: readonly number[]): DiscreteLaw {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const probabilities = Float64Array.from(weights, (weight) => weight / sum)
  const { length } = probabilities
  const keep = new Float64Array(length).fill(1)
  const other = Uint32Array.from({ length }, (_, k) => k)
  const scaled = probabilities.map((probability) => probability * length)
  const small: number[] = []
  const large: number[] = []
  for (let k = 0; k < length; k++) (scaled[k]! < 1 ? small : large).push(k)
  while (small.length > 0 && large.length > 0) {
    const [low, high] = [small.pop()!, large.at(-1)!]
    keep[low] = scaled[low]!
    other[low] = high
    scaled[high]! -= 1 - scaled[low]!
    if (scaled[high]! < 1) small.push(large.pop()!)
  }
  return { first, probabilities, keep, other }
}

export function draw({ first, keep, other }: DiscreteLaw, random: Random): number {
  // 32 bits suffice: the error of a probability is 2^-32 of the number of columns.
  const at = random.word() * 2 ** -32 * keep.length
  const column = at >>> 0
  return first + (at - column < keep[column]! ? column : other[column]!)
}

/**
 * One binomial draw, from the mode outwards: the number of steps grows with the standard deviation, not with the
 * trials.
 */
export function drawBinomial(trials: number, p: number, random: Random): number {
  if (trials === 0 || p <= 0) return 0
  if (p >= 1) return trials
  if (p > 0.5) return trials - drawBinomial(trials, 1 - p, random)
  const odds = p / (1 - p)
  const mode = min(trials, floor((trials + 1) * p))
  const atMode = exp(
    logFactorial(trials) -
      logFactorial(mode) -
      logFactorial(trials - mode) +
      mode * log(p) +
      (trials - mode) * log1p(-p)
  )
  let rest = random.uniform() - atMode
  let [low, high] = [mode, mode]
  let [lower, higher] = [atMode, atMode]
  while (rest >= 0) {
    if (low > 0) {
      lower *= low / ((trials - low + 1) * odds)
      low -= 1
      rest -= lower
      if (rest < 0) return low
    }
    if (high < trials) {
      higher *= ((trials - high) / (high + 1)) * odds
      high += 1
      rest -= higher
      if (rest < 0) return high
    }
    // Only rounding error is left.
    if ((low === 0 || lower < 1e-300) && (high === trials || higher < 1e-300)) return mode
  }
  return mode
}

/**
 * How many of `count` draws fall on each number: adds to `into[at + number]`. Draws one by one when that is cheaper.
 */
export function spread(law: DiscreteLaw, count: number, into: Float64Array, at: number, random: Random): void {
  const { first, probabilities } = law
  if (count < ONE_BY_ONE * probabilities.length) {
    for (let done = 0; done < count; done++) into[at + draw(law, random)]! += 1
    return
  }
  let left = count
  let ahead = 1
  for (let k = 0; k < probabilities.length && left > 0; k++) {
    const probability = probabilities[k]!
    const here = k === probabilities.length - 1 ? left : drawBinomial(left, min(1, probability / ahead), random)
    into[at + first + k]! += here
    left -= here
    ahead -= probability
    if (ahead <= 0) {
      into[at + first + k]! += left
      return
    }
  }
}
