// Decides whether two runs agree, circuit by circuit, at an error rate that holds for all circuits together: a re-run and
// the sealed result, or two jobs. Each circuit gets two tests, since each finds differences that the other misses.
// docs/capsules/verification.md describes the rules.

import { type Counted, causesOf, hardwareOf, isOfProgram, isRepetition, notesOf, seedNotes } from './notes.js'
import { type Relation, sealAndRerun } from './relation.js'
import type { Check, Verification } from './report.js'
import type { CircuitPair } from './statistics/circuit-pairs.js'
import { compareDefaults, compareNote, compareStatement } from './statistics/compare-bound.js'
import { type CountPair, pairUp } from './statistics/count-pair.js'
import { hellingerFidelity, totalVariation } from './statistics/distance.js'
import { gate } from './statistics/gate.js'
import { holmAdjusted } from './statistics/holm.js'
import { pooledPearson } from './statistics/pearson.js'
import { randomOf } from './statistics/random.js'
import { permutationTest } from './statistics/relabelling.js'
import { eachJobShots, neededShotsOf, rerunShots, shown } from './statistics/shots-needed.js'
import { distanceUpperBound } from './statistics/upper-bound.js'
import { verdicts, worstOf } from './verdict.js'

/** The probability that two runs of the same are found to differ, over all their circuits. */
export const ALPHA = 0.01
/** The probability that the upper bound of a distance is below the true distance. */
export const BETA = 0.05

export interface JudgeSettings {
  /** The tolerated total variation distance; of a capsule, the one declared when it was sealed. */
  margin: number
  alpha?: number
  beta?: number
  /** What the runs are to each other. Default: the sealed run of a capsule and its re-run. */
  relation?: Relation
  /** Seeds the random draws. The same text gives the same report, to the last digit. */
  seedText: string
}

interface Settings extends Required<JudgeSettings> {
  circuits: number
}

/**
 * Draws of a permutation test with one circuit. With several circuits, four times as many as the smallest of their
 * levels needs.
 */
const DRAWS_MIN = 999

export function judge(pairs: readonly CircuitPair[], settings: JudgeSettings): Verification {
  const { margin, alpha = ALPHA, beta = BETA, relation = sealAndRerun } = settings
  const begun = pairs.map((pair) => begin(pair, relation))
  const circuits = begun.filter((check) => 'sealed' in check).length
  const all: Settings = { ...settings, alpha, beta, relation, circuits }
  const measured = begun.map((check) => ('sealed' in check ? measure(check, all) : check))
  const tested = measured.filter((check) => 'sealed' in check)
  const adjusted = holmAdjusted(tested.map(({ check }) => check.p_values.combined!))
  tested.forEach(({ check }, place) => {
    check.p_adjusted = adjusted[place]!
  })
  const checks = measured.map((check) => ('sealed' in check ? decide(check, all) : check))
  return summary(checks, { margin, alpha, beta })
}

interface Tested extends Counted {
  check: Check
  counts: CountPair
}

const nothing: Omit<Check, 'name' | 'verdict' | 'method' | 'reason'> = {
  n: null,
  m: null,
  outcomes: null,
  p_values: { pearson: null, cdvv: null, combined: null },
  p_adjusted: null,
  draws: null,
  tvd: null,
  tvd_null: null,
  tvd_excess: null,
  tvd_upper: null,
  hellinger_fidelity: null,
  needed_shots: null,
  compare: null,
  hardware: null,
  notes: []
}

/** Returns the verdict of a circuit that needs no test, or what is to be tested. */
function begin(pair: CircuitPair, relation: Relation): Check | Tested {
  const { name } = pair
  if ('uncounted' in pair) {
    const { same, uncounted: reason } = pair
    return { ...nothing, name, verdict: same ? 'exact' : 'not_testable', method: same ? 'equality' : 'none', reason }
  }
  const { sealed, rerun } = pair
  const refused = gate(sealed, rerun, relation)
  if (refused)
    return { ...nothing, name, verdict: 'not_testable', method: 'none', reason: refused, hardware: hardwareOf(pair) }
  const counts = pairUp(sealed.counts, rerun.counts)
  const check: Check = {
    ...nothing,
    name,
    verdict: 'exact',
    method: 'equality',
    reason: isOfProgram(pair)
      ? 'the program reported the same counts, with the same seed and the same versions'
      : 'a simulator with the same seed and the same versions gave the same counts',
    n: counts.n,
    m: counts.m,
    outcomes: counts.outcomes,
    tvd: totalVariation(counts),
    hellinger_fidelity: hellingerFidelity(counts),
    compare: compareStatement(counts),
    hardware: hardwareOf(pair),
    notes: notesOf(pair, relation)
  }
  const repeated = isRepetition(pair)
  if (repeated && counts.cells.every(({ x, y }) => x === y)) return check
  return { check, counts, sealed, rerun }
}

/** Computes both tests, the distances and the bound. */
function measure(tested: Tested, { circuits, alpha, beta, relation, seedText }: Settings): Tested {
  const { check, counts } = tested
  const pearson = pooledPearson(counts)?.p ?? null
  // When Pearson alone is decisive, more draws would only refine a digit.
  const decided = pearson !== null && 2 * pearson * circuits <= alpha
  const draws = decided ? DRAWS_MIN : Math.max(DRAWS_MIN, Math.ceil((4 * circuits) / alpha) - 1)
  const permutation = permutationTest(counts, draws, randomOf(`${seedText}\n${check.name}\nrelabelling`))
  const tvd = check.tvd!
  return {
    ...tested,
    check: {
      ...check,
      method: 'pearson+cdvv',
      p_values: {
        pearson,
        cdvv: permutation.p,
        combined: Math.min(1, 2 * Math.min(pearson ?? 1, permutation.p))
      },
      draws: permutation.draws,
      tvd_null: permutation.meanDistance,
      tvd_excess: Math.max(0, tvd - permutation.meanDistance),
      tvd_upper: distanceUpperBound(counts, beta, randomOf(`${seedText}\n${check.name}\nbootstrap`)),
      notes: [
        ...check.notes,
        ...(pearson === null ? ['too few shots for each outcome: not testable by Pearson'] : []),
        ...seedNotes(tested, relation)
      ]
    }
  }
}

function decide({ check, counts, ...pair }: Tested, settings: Settings): Check {
  const { alpha, beta, margin, relation } = settings
  const [tvd, upper, excess] = [check.tvd!, check.tvd_upper!, check.tvd_excess!]
  const sure = `${percent(1 - beta)} confidence`
  if (check.p_adjusted! <= alpha) {
    const found = `a difference was found (p ${figure(check.p_adjusted!)} <= alpha ${alpha}; distance ${figure(tvd)}, ${figure(excess)} more than chance gives)`
    const causes = causesOf(check, relation)
    if (canDrift(pair, relation) && excess < margin)
      return {
        ...check,
        verdict: 'drifted',
        reason: `${found}, which is below the margin ${margin}: the machine has drifted; this is no failure of the code${causes}`
      }
    const compared = !relation.repeats || canDrift(pair, relation)
    const size = excess < margin ? `, which is below the margin ${margin}` : `, at or above the margin ${margin}`
    return { ...check, verdict: 'different', reason: `${found}${compared ? size : ''}${causes}` }
  }
  if (upper <= margin)
    return {
      ...check,
      verdict: 'consistent',
      reason: `no difference was found (p ${figure(check.p_adjusted!)}), and the true distance is at most ${figure(upper)}, within the margin ${margin}, at ${sure}`
    }
  const needed = shotsFor(check, counts, settings)
  return {
    ...check,
    verdict: 'not_testable',
    needed_shots: 'shots' in needed ? needed.shots : null,
    reason: `no difference was found (p ${figure(check.p_adjusted!)}), but the true distance may be up to ${figure(upper)} at ${sure}, above the margin ${margin}: ${
      'shots' in needed
        ? `need about ${shown(needed.shots)} shots in ${relation.repeats ? 'the re-run' : 'each job'}`
        : needed.impossible
    }`
  }
}

/** Whether a difference can be the drift of one quantum computer that ran one circuit twice. */
const canDrift = ({ sealed, rerun }: Counted, { sameBackend }: Relation): boolean =>
  sealed.hardware && rerun.hardware && sameBackend && sealed.circuitSha256 === rerun.circuitSha256

function shotsFor(check: Check, counts: CountPair, { margin, beta, relation }: Settings) {
  const { n, m } = counts
  const inEach = neededShotsOf(counts, margin, beta)
  // The runs had as many shots as planned, and the bound is still too wide. It shrinks with the root of the shots.
  const beyondPlan = () => Math.ceil((2 / (1 / n + 1 / m)) * (check.tvd_upper! / margin) ** 2)
  if (!relation.repeats) return eachJobShots(inEach > Math.min(n, m) ? inEach : Math.max(inEach, beyondPlan()))
  const planned = rerunShots(n, inEach)
  return 'impossible' in planned || planned.shots > m ? planned : rerunShots(n, beyondPlan())
}

function summary(
  checks: Check[],
  { margin, alpha, beta }: Required<Pick<Settings, 'margin' | 'alpha' | 'beta'>>
): Verification {
  const verdict = checks.length === 0 ? 'not_testable' : worstOf(checks.map((check) => check.verdict))
  const decisive = checks
    .filter((check) => check.verdict === verdict)
    .sort((a, b) => (a.p_adjusted ?? 2) - (b.p_adjusted ?? 2) || (b.tvd_upper ?? 0) - (a.tvd_upper ?? 0))[0]
  if (!decisive)
    return {
      verdict,
      method: 'none',
      alpha,
      beta,
      margin,
      p_values: nothing.p_values,
      tvd: null,
      tvd_upper: null,
      reason: 'there is nothing to compare',
      checks,
      compare: noComparison
    }
  const circuitPrefix = checks.length > 1 ? `${decisive.name} (${counted(checks)}): ` : ''
  return {
    verdict,
    method: decisive.method,
    alpha,
    beta,
    margin,
    p_values: decisive.p_values,
    tvd: decisive.tvd,
    tvd_upper: decisive.tvd_upper,
    ...(decisive.needed_shots !== null && { needed_shots: decisive.needed_shots }),
    reason: circuitPrefix + decisive.reason,
    checks,
    compare: decisive.compare ?? noComparison
  }
}

const noComparison = {
  bound: null,
  epsilon: compareDefaults.epsilon,
  says: 'INCONCLUSIVE' as const,
  note: `${compareNote}; here there are no counts that it could compare`
}

/** How many circuits got each verdict, the worst first. */
const counted = (checks: Check[]): string =>
  [...verdicts]
    .reverse()
    .flatMap((verdict) => {
      const times = checks.filter((check) => check.verdict === verdict).length
      return times > 0 ? [`${times} ${verdict}`] : []
    })
    .join(', ')

const figure = (value: number): string =>
  value === 0 ? '0' : value < 0.0001 ? value.toExponential(1) : value.toPrecision(3)

const percent = (value: number): string => `${Number((value * 100).toPrecision(6))} %`
