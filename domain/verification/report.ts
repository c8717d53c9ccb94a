// The report of a verification, as the API returns it and the database stores it.
import type { CompareStatement } from './statistics/compare-bound.js'
import type { Verdict } from './verdict.js'

/** How a verdict was reached. */
export const verificationMethods = ['equality', 'pearson+cdvv', 'none'] as const
export type Method = (typeof verificationMethods)[number]

export interface PValues {
  /** The p-value of pooled Pearson; `null` when nothing is left to test. */
  pearson: number | null
  /** The p-value of the permutation test on the closeness statistic. */
  cdvv: number | null
  /** Twice the smaller of the two, at most 1. */
  combined: number | null
}

/** One circuit. Distances are total variation distances. `null` means not computed. */
export interface Check {
  name: string
  verdict: Verdict
  method: Method
  reason: string
  /** Shots of the sealed run (`n`) and of the re-run (`m`). */
  n: number | null
  m: number | null
  /** How many outcomes were seen in either run. */
  outcomes: number | null
  p_values: PValues
  /** `combined`, adjusted for the number of tested circuits (Holm). A difference is found when it is <= alpha. */
  p_adjusted: number | null
  draws: number | null
  tvd: number | null
  /** The expected distance of two runs of one distribution with this many shots, and by how much `tvd` exceeds it. */
  tvd_null: number | null
  tvd_excess: number | null
  /** The true distance is at most this, with confidence 1 - beta. */
  tvd_upper: number | null
  hellinger_fidelity: number | null
  needed_shots: number | null
  compare: CompareStatement | null
  /** Set for a quantum computer: what may have drifted. */
  hardware: {
    sealed_calibration_id: string | null
    rerun_calibration_id: string | null
    elapsed_seconds: number | null
  } | null
  notes: string[]
}

/** The figures at the top are those of the deciding circuit: the worst verdict, then the smallest p. */
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
