// How many shots are needed to show that two runs are no further apart than a margin. For planning: about right when
// outcomes have many shots each, too low when they have few.
import { SHOTS_MAX } from '../../jobs/params/shots.js'
import { type CountPair, type Counts, pairUp } from './count-pair.js'
import { binomialLaw, logFactorial } from './discrete-law.js'

/** The factor of 1/√shots: the expected distance of two equal runs, plus what the bound adds. */
function spreadOf({ n, m, cells }: CountPair, beta: number): number {
  const shots = n + m
  const deviations = cells.reduce((sum, { x, y, times }) => {
    const share = (x + y) / shots
    return sum + times * Math.sqrt(share * (1 - share))
  }, 0)
  return deviations / Math.sqrt(Math.PI) + Math.sqrt(Math.log(1 / beta))
}

/**
 * The shots of each of two runs that suffice to show a distance of at most `margin`, for the distributions of this
 * pair.
 */
export const neededShotsOf = (pair: CountPair, margin: number, beta: number): number =>
  Math.ceil((spreadOf(pair, beta) / margin) ** 2)

/** The same, estimated from one run. */
export const neededShots = (counts: Counts, margin: number, beta: number): number =>
  neededShotsOf(pairUp(counts, {}), margin, beta)

/**
 * The margin that a re-run with as many shots as these counts can resolve; at most 1, the largest distance. When
 * outcomes have few shots each, the distance of equal runs is estimated from the counts themselves.
 */
export function smallestMargin(counts: Counts, beta: number): number {
  const pair = pairUp(counts, {})
  if (pair.n === 0) return 1
  const slack = Math.sqrt(Math.log(1 / beta) / pair.n)
  return Math.min(1, Math.max(spreadOf(pair, beta) / Math.sqrt(pair.n), equalRunsDistance(pair) + slack))
}

/**
 * How far apart two runs of this run's distribution are, with the same number of shots. Two halves of the run are
 * samples of that distribution, as are two quarters. From quarters to halves the distance shrinks at most as much as
 * from halves to the whole, so this overestimates rather than underestimates.
 */
function equalRunsDistance({ n, cells }: CountPair): number {
  let [halves, quarters] = [0, 0]
  for (const { x, times } of cells) {
    const weight = times * Math.sqrt(1 - x / n)
    halves += weight * meanGap(x)
    quarters += weight * 2 * meanGapOfHalf(x)
  }
  return quarters === 0 ? 0 : (halves / n) * Math.min(1, halves / quarters)
}

/** The mean absolute difference of heads and tails in this many tosses. */
function meanGap(throws: number): number {
  if (throws === 0) return 0
  const half = Math.floor((throws - 1) / 2)
  const ways = logFactorial(throws - 1) - logFactorial(half) - logFactorial(throws - 1 - half)
  return throws * Math.exp(ways - (throws - 1) * Math.LN2)
}

/** The same when each toss is omitted with probability one half. */
function meanGapOfHalf(throws: number): number {
  if (throws > 200) return Math.sqrt(throws / Math.PI)
  const { first, probabilities } = binomialLaw(throws, 0.5)
  return probabilities.reduce((sum, probability, k) => sum + probability * meanGap(first + k), 0)
}

/**
 * The shots that a re-run needs against a sealed run with `sealed` shots, when two runs of `needed` shots each would
 * suffice.
 */
export function rerunShots(sealed: number, needed: number): { shots: number } | { impossible: string } {
  if (needed === Number.POSITIVE_INFINITY)
    return { impossible: 'no number of shots shows that two distributions are the same; a margin above 0 is needed' }
  const rest = 2 / needed - 1 / sealed
  if (rest <= 1e-12)
    return {
      impossible: `no re-run can show it: the sealed run has ${shown(sealed)} shots, and more than ${shown(Math.ceil(needed / 2))} would be needed`
    }
  const shots = Math.ceil(1 / rest)
  if (shots > SHOTS_MAX)
    return { impossible: `a re-run would need about ${shown(shots)} shots, and a run has at most ${shown(SHOTS_MAX)}` }
  return { shots }
}

/** The shots that each of two new jobs needs. */
export function eachJobShots(shots: number): { shots: number } | { impossible: string } {
  if (shots <= SHOTS_MAX) return { shots }
  const about = Number.isSafeInteger(shots) ? `about ${shown(shots)} shots` : 'more shots than can be counted'
  return { impossible: `each job would need ${about}, and a job has at most ${shown(SHOTS_MAX)}` }
}

export const shown = (shots: number): string => shots.toLocaleString('en-US')
