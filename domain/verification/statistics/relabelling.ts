// The permutation test: the distribution of a statistic when the assignment of shots to runs is random. It is exact for
// equal and unequal shots, except for the number of draws.
//
// A draw selects as many of all shots as the smaller run has, with every selection equally likely. It does not go shot
// by shot: first every shot is selected independently with the same probability, so that outcomes are independent, and
// outcomes with the same number of shots only need a count of how many were selected how often. Then single shots are
// added or removed until the number is right. Given their number, both steps leave every selection equally likely.
import { closeness, closenessTerm } from './closeness.js'
import type { CountPair } from './count-pair.js'
import { binomialLaw, type DiscreteLaw, draw, lawOf, spread } from './discrete-law.js'
import { totalVariation } from './distance.js'
import type { Random } from './random.js'

export interface PermutationTest {
  statistic: number
  p: number
  draws: number
  /** The mean total variation distance over the draws: how far apart two runs of one distribution are. */
  meanDistance: number
}

const { abs } = Math

/**
 * The test stops after this many draws as extreme as the observation; p is then the share of such draws (Besag and
 * Clifford, 1991).
 */
export const ENOUGH_EXTREME = 100
/** How far the statistic of a draw can be below the observed one and still count as equal, for rounding. */
const ROUNDING = 1e-9

/** @param drawsMax the smallest p that can be reached is 1 / (drawsMax + 1). Both runs must have shots. */
export function permutationTest(pair: CountPair, drawsMax: number, random: Random): PermutationTest {
  const seen = closeness(pair)
  const next = relabellings(pair, random)
  let extreme = 0
  let distances = 0
  let draws = 0
  while (draws < drawsMax && extreme < ENOUGH_EXTREME) {
    const { closeness: statistic, distance } = next()
    draws += 1
    distances += distance
    if (statistic >= seen - ROUNDING) extreme += 1
  }
  const p = extreme === ENOUGH_EXTREME ? extreme / draws : (extreme + 1) / (draws + 1)
  return { statistic: seen, p, draws, meanDistance: draws === 0 ? totalVariation(pair) : distances / draws }
}

/** Outcomes that have `shots` in both runs together. */
interface Group {
  shots: number
  outcomes: number
  law: DiscreteLaw
  /**
   * Where its part of the state begins: how many of its outcomes have 0, 1, 2 ... selected shots, or how many its
   * single outcome has.
   */
  at: number
  counted: boolean
}

export interface Relabelled {
  closeness: number
  distance: number
}

/** Returns a function that makes a new draw on each call. */
export function relabellings(pair: CountPair, random: Random): () => Relabelled {
  const { n, m } = pair
  const [taken, all] = [Math.min(n, m), n + m]
  const term = closenessTerm(n, m)
  const groups = groupsOf(pair, taken / all)
  const state = new Float64Array(groups.reduce((length, group) => length + slots(group), 0))
  const byShots = lawOf(
    0,
    groups.map(({ shots, outcomes }) => shots * outcomes)
  )

  const begin = (): number => {
    state.fill(0)
    let sum = 0
    for (const { law, outcomes, at, counted, shots } of groups) {
      if (!counted) {
        state[at] = draw(law, random)
        sum += state[at]!
        continue
      }
      spread(law, outcomes, state, at, random)
      for (let got = 1; got <= shots; got++) sum += got * state[at + got]!
    }
    return sum
  }

  /**
   * Picks one of all shots. Selects it when `change` is 1, deselects it when it is -1. Returns `false` when nothing
   * changed.
   */
  const move = (change: 1 | -1): boolean => {
    const { shots, outcomes, at, counted } = groups[draw(byShots, random)]!
    let place = random.uniform() * outcomes
    let got = 0
    if (counted) while (place >= state[at + got]!) place -= state[at + got++]!
    else got = state[at]!
    const isTaken = random.uniform() * shots < got
    if (isTaken === (change === 1)) return false
    if (counted) {
      state[at + got]! -= 1
      state[at + got + change]! += 1
    } else state[at] = got + change
    return true
  }

  const measure = (): Relabelled => {
    let [closenessSum, distance] = [0, 0]
    const add = (got: number, shots: number, times: number): void => {
      const [x, y] = n <= m ? [got, shots - got] : [shots - got, got]
      closenessSum += times * term(x, y)
      distance += times * abs(x / n - y / m)
    }
    for (const { shots, at, counted } of groups) {
      if (!counted) add(state[at]!, shots, 1)
      else for (let got = 0; got <= shots; got++) if (state[at + got]! > 0) add(got, shots, state[at + got]!)
    }
    return { closeness: closenessSum, distance: distance / 2 }
  }

  return () => {
    let sum = begin()
    while (sum < taken) if (move(1)) sum += 1
    while (sum > taken) if (move(-1)) sum -= 1
    return measure()
  }
}

function groupsOf({ cells }: CountPair, share: number): Group[] {
  const outcomesByShots = new Map<number, number>()
  for (const { x, y, times } of cells) outcomesByShots.set(x + y, (outcomesByShots.get(x + y) ?? 0) + times)
  const groups: Group[] = []
  let at = 0
  for (const [shots, outcomes] of [...outcomesByShots].sort(([a], [b]) => a - b)) {
    const law = binomialLaw(shots, share)
    const counted = outcomes > shots
    // Too few outcomes to count together become groups of one.
    for (let left = counted ? 1 : outcomes; left > 0; left--) {
      const group = { shots, outcomes: counted ? outcomes : 1, law, at, counted }
      groups.push(group)
      at += slots(group)
    }
  }
  return groups
}

const slots = ({ counted, shots }: Pick<Group, 'counted' | 'shots'>): number => (counted ? shots + 1 : 1)
