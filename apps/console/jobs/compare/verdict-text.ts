// The figures of a verdict in words. The verdict, its reason and its statement are the service's.
import type { components } from '../../api/schema.js'
import { groupedDigits } from '../../text/exact-numbers.js'

type JobComparison = components['schemas']['JobComparison']
type Verdict = JobComparison['verdict']

const tones = {
  exact: 'ok',
  consistent: 'ok',
  not_testable: 'warn',
  drifted: 'bad',
  different: 'bad'
} as const satisfies Record<Verdict, string>

export const verdictTone = (verdict: Verdict): 'ok' | 'warn' | 'bad' => tones[verdict]

export const rateText = ({ alpha }: Pick<JobComparison, 'alpha'>): string =>
  `Error rate: two jobs of one distribution are found different in ${percent(alpha)} of all comparisons.`

export function boundText({
  tvd,
  tvd_upper,
  beta,
  margin
}: Pick<JobComparison, 'tvd' | 'tvd_upper' | 'beta' | 'margin'>): string {
  const tolerated = `The tolerated distance is ${margin}.`
  if (tvd === null) return tolerated
  const bound =
    tvd_upper === null ? '' : `, the true one at most ${rounded(tvd_upper)} with ${percent(1 - beta)} confidence`
  return `Observed distance of the counts: ${rounded(tvd)}${bound}. ${tolerated}`
}

/** `null` where the verdict needs no more shots, or no number of them would do. */
export const neededText = ({ needed_shots }: { needed_shots: number | null }): string | null =>
  needed_shots === null ? null : `A verdict would take ${groupedDigits(needed_shots)} shots of each job.`

const percent = (share: number): string => `${Number((100 * share).toPrecision(4))} %`
const rounded = (distance: number): string => String(Number(distance.toPrecision(3)))
