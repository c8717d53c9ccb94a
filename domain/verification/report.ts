// The report of a verification, as the API gives it and the database keeps it.
import type { CompareStatement } from './statistics/compare-bound.js'
import type { Verdict } from './verdict.js'

/** How a verdict was come to. */
export type Method = 'equality' | 'pearson+cdvv' | 'none'

export interface PValues {
  /** Of pooled Pearson; `null` where nothing is left to test. */
  pearson: number | null
  /** Of the permutation test on the closeness statistic. */
  cdvv: number | null
  /** Of both together: twice the smaller, at most 1. */
  combined: number | null
}

/** One circuit. Distances are total variation distances; what was not computed is `null`. */
export interface Check {
  name: string
  verdict: Verdict
  method: Method
  reason: string
  /** Shots of the sealed run and of the re-run. */
  n: number | null
  m: number | null
  /** Outcomes seen in either. */
  outcomes: number | null
  p_values: PValues
  /** `combined`, made larger for the number of circuits that were tested (Holm); a difference is found when it is <= alpha. */
  p_adjusted: number | null
  draws: number | null
  tvd: number | null
  /** What two runs of one and the same distribution are apart with so many shots, and what `tvd` is above it. */
  tvd_null: number | null
  tvd_excess: number | null
  /** The true distance is at most this, with confidence 1 - beta. */
  tvd_upper: number | null
  hellinger_fidelity: number | null
  needed_shots: number | null
  compare: CompareStatement | null
  /** Of a quantum computer: what may have drifted. */
  hardware: {
    sealed_calibration_id: string | null
    rerun_calibration_id: string | null
    elapsed_seconds: number | null
  } | null
  notes: string[]
}

/** The figures at the top are those of the circuit that decided: the worst verdict, of several the smallest p. */
export interface Verification {
  verdict: Verdict
  method: Method
  alpha: number
  beta: number
  margin: number
  p_values: PValues
  tvd: number | null
  tvd_upper: number | null
  needed_shots?: number
  reason: string
  checks: Check[]
  compare: CompareStatement | { bound: null; epsilon: number; says: 'INCONCLUSIVE'; note: string }
}
