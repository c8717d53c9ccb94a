// Compares the results of any two jobs: the verdict of the same tests that a verification uses, what follows from it, and
// the counts side by side. docs/compare.md describes the rules.

import { storableText } from '../json/json-guard.js'
import { jsonFields } from '../json/json-text.js'
import { judge } from './judge.js'
import { marginFloor } from './margin.js'
import { type Relation, twoJobs } from './relation.js'
import type { Check, Verification } from './report.js'
import { BROWSER_SAMPLED, PROGRAM_REPORTED, type RunFacts } from './run-counts.js'
import { type CircuitPair, circuitPairs, type StoredRun } from './statistics/circuit-pairs.js'
import { type PairedOutcomes, pairedOutcomes } from './statistics/paired-outcomes.js'
import { verdicts } from './verdict.js'

/** A job that has its result. */
export interface ComparedJob<Result = StoredRun> {
  id: string
  /** Slug. */
  backend: string
  /** Of a sweep, the point that is compared; `null` for the whole result. */
  point: number | null
  result: Result
}

/** What a result states about its own counts. */
export interface Provenance {
  count_source: string | null
  seed: number | null
  engine: string | null
  engine_version: string | null
  calibration_id: string | null
}

export type ComparedCircuit = Check & PairedOutcomes

export interface Comparison {
  /** The figures of the deciding circuit. Its checks are in `circuits`. */
  report: Omit<Verification, 'checks'>
  /** What follows from the verdict, and who vouches for it. */
  statement: string
  a: Provenance
  b: Provenance
  /** Those that decide most, in the order of their places. */
  circuits: ComparedCircuit[]
  circuits_left_out: number
}

/** Of all circuits together, so that a response stays small. */
const CIRCUITS_SHOWN = 100
const OUTCOMES_SHOWN = 1_000
const CHARACTERS_SHOWN = 64 * 1024

/** How circuits are named: `result`, or `result /first` where a program returned several. */
const RESULT = 'result'

export interface CompareSettings {
  /** The tolerated total variation distance; `null` for the default. */
  margin: number | null
  /** Seeds the random draws. The same text gives the same comparison, to the last digit. */
  seedText: string
  /** What a and b are to each other; left out for two jobs. */
  relation?: Relation
}

/** @throws Error when a result is not a JSON object. */
export function compareResults(a: ComparedJob, b: ComparedJob, settings: CompareSettings): Comparison {
  const relation = settings.relation ?? twoJobs(a.backend === b.backend)
  const pairs = circuitPairs({ name: RESULT, sealed: a.result, rerun: b.result }, relation)
  const isOneJob = a.id === b.id && a.point === b.point
  const margin = settings.margin ?? defaultCompareMargin([a.result.facts, b.result.facts])
  const judged = isOneJob ? pairs.map(withItself) : pairs
  const { checks, ...report } = judge(judged, { ...settings, margin, relation })
  const [one, other] = [provenanceOf(a.result.text), provenanceOf(b.result.text)]
  return {
    report,
    statement: statementOf(report, isOneJob, { [relation.one]: one, [relation.other]: other }),
    a: one,
    b: other,
    ...shownCircuits(checks, pairs)
  }
}

/** A comparison that could not be made. */
export function uncompared(reason: string, margin: number): Comparison {
  const { checks, ...report } = judge([{ name: RESULT, uncounted: reason, same: false }], { margin, seedText: '' })
  return {
    report,
    statement: UNDECIDED,
    a: unknown,
    b: unknown,
    ...shownCircuits(checks, [])
  }
}

/** As of a capsule, but not widened to what the shots can resolve: more shots are one submission away. */
export const defaultCompareMargin = (facts: readonly RunFacts[]): number =>
  marginFloor(facts.some(({ hardware }) => hardware))

const withItself = ({ name }: CircuitPair): CircuitPair => ({
  name,
  uncounted: 'a and b are the same result, which equals itself',
  same: true
})

const unknown: Provenance = {
  count_source: null,
  seed: null,
  engine: null,
  engine_version: null,
  calibration_id: null
}

const TEXT_MAX = 200

function provenanceOf(text: string): Provenance {
  const metadata = JSON.parse(jsonFields(text).get('metadata') ?? 'null') as Record<string, unknown> | null
  const textOf = (name: string): string | null => {
    const value = metadata?.[name]
    return typeof value === 'string' ? storableText(value.slice(0, TEXT_MAX)) : null
  }
  return {
    count_source: textOf('count_source'),
    seed: Number.isSafeInteger(metadata?.seed) ? (metadata!.seed as number) : null,
    engine: textOf('engine'),
    engine_version: textOf('engine_version'),
    calibration_id: textOf('calibration_id')
  }
}

const UNDECIDED = 'Nothing follows about whether the two jobs sample one distribution.'

/** One or two sentences: what the verdict shows, and what it rests on. */
function statementOf(
  { verdict, alpha, beta, margin, tvd_upper }: Comparison['report'],
  isOneJob: boolean,
  runs: Readonly<Record<string, Provenance>>
): string {
  if (isOneJob) return 'a and b are the same result: that it equals itself says nothing about another run.'
  if (verdict === 'not_testable') return UNDECIDED
  const shows = {
    exact:
      'With one seed and the same versions, both jobs used the same random numbers: the result repeats. This is not the agreement of two independent samples.',
    consistent: `The two distributions are at most ${tvd_upper?.toPrecision(3)} apart, within the margin ${margin}, with ${percent(1 - beta)} confidence.`,
    drifted: `One quantum computer gave two different distributions, closer to each other than the margin ${margin}. Two jobs of one distribution are found different in ${percent(alpha)} of comparisons.`,
    different: `The two distributions differ. Two jobs of one distribution are found different in ${percent(alpha)} of comparisons.`
  }[verdict]
  return [shows, vouching(runs)].join(' ')
}

/** Who vouches for the counts, and so for the statement. @param runs by their names. */
function vouching(runs: Readonly<Record<string, Provenance>>): string {
  const of = (...sources: (string | null)[]): string[] =>
    Object.entries(runs).flatMap(([name, { count_source }]) => (sources.includes(count_source) ? [name] : []))
  const inBrowser = of(BROWSER_SAMPLED)
  const reported = of(null, PROGRAM_REPORTED)
  if (inBrowser.length + reported.length === 0) return 'The service vouches for the counts of both jobs.'
  return [
    ...inBrowser.map((name) => `The service has not seen ${name}, and cannot vouch for its counts.`),
    ...(reported.length > 0
      ? [`This rests on what the program of ${reported.join(' and of ')} reported, for which the service cannot vouch.`]
      : [])
  ].join(' ')
}

function shownCircuits(
  checks: readonly Check[],
  pairs: readonly CircuitPair[]
): Pick<Comparison, 'circuits' | 'circuits_left_out'> {
  const order = checks.map((_, place) => place).sort((one, other) => byDecisiveness(checks[one]!, checks[other]!))
  const places = order.slice(0, CIRCUITS_SHOWN).sort((one, other) => one - other)
  const max = {
    outcomes: Math.floor(OUTCOMES_SHOWN / Math.max(1, places.length)),
    characters: Math.floor(CHARACTERS_SHOWN / Math.max(1, places.length))
  }
  return {
    circuits: places.map((place) => {
      const pair = pairs[place]
      const [a, b] = pair && 'sealed' in pair ? [pair.sealed.counts, pair.rerun.counts] : [{}, {}]
      return { ...checks[place]!, ...pairedOutcomes(a, b, max) }
    }),
    circuits_left_out: checks.length - places.length
  }
}

const byDecisiveness = (one: Check, other: Check): number =>
  verdicts.indexOf(other.verdict) - verdicts.indexOf(one.verdict) || (one.p_adjusted ?? 2) - (other.p_adjusted ?? 2)

const percent = (share: number): string => `${Number((share * 100).toPrecision(6))} %`
