// Formats the comparison of two jobs for people.
import type { PairedOutcomes } from '../../../domain/verification/statistics/paired-outcomes.js'
import type { Verdict } from '../../../domain/verification/verdict.js'
import { type Column, listing, table } from '../terminal/layout.js'
import { plain } from '../terminal/untrusted-text.js'

interface ComparedJob {
  job_id: string
  point: number | null
  backend: string
  count_source: string | null
  seed: number | null
}

/** The fields of the API's response that the command shows. */
export interface Comparison {
  verdict: Verdict
  method: string
  reason: string
  statement: string
  alpha: number
  margin: number
  tvd: number | null
  tvd_upper: number | null
  needed_shots: number | null
  a: ComparedJob
  b: ComparedJob
  circuits: (PairedOutcomes & { name: string; verdict: Verdict; n: number | null; m: number | null; notes: string[] })[]
  circuits_left_out: number
}

const columns: readonly Column[] = [
  { heading: 'OUTCOME', least: 8 },
  { heading: 'A', right: true },
  { heading: 'SHARE A', right: true, yields: 1 },
  { heading: 'B', right: true },
  { heading: 'SHARE B', right: true, yields: 1 }
]

const OUTCOMES_SHOWN = 20
const CIRCUITS_SHOWN = 20

export function comparisonText(comparison: Comparison): string {
  const { circuits } = comparison
  const [only] = circuits
  const counts = circuits.length === 1 ? countsText(only!) : circuitsText(comparison)
  const notes = [...new Set(circuits.flatMap((circuit) => circuit.notes))].map((note) => `Note: ${plain(note)}`)
  return [figures(comparison), plain(comparison.reason), plain(comparison.statement), ...notes, counts]
    .filter((part) => part !== '')
    .join('\n\n')
}

const figures = ({ verdict, method, alpha, margin, tvd, tvd_upper, needed_shots, a, b }: Comparison): string =>
  listing([
    ['verdict', verdict, 'status'],
    ['distance', distanceText(tvd, tvd_upper)],
    ['margin', String(margin)],
    ['needed shots', needed_shots === null ? null : `${needed_shots} in each job`],
    ['method', method],
    ['error rate', `${Number((alpha * 100).toPrecision(6))} %`],
    ['a', jobText(a)],
    ['b', jobText(b)]
  ])

const jobText = ({ job_id, point, backend, count_source, seed }: ComparedJob): string =>
  `${job_id}${point === null ? '' : `, point ${point},`} on ${backend}, ${count_source ?? 'a value of its program'}${seed === null ? '' : `, seed ${seed}`}`

function distanceText(tvd: number | null, upper: number | null): string | null {
  if (tvd === null) return null
  return `${tvd.toFixed(4)} total variation${upper === null ? '' : `, at most ${upper.toFixed(4)}`}`
}

function countsText({ counts, left_out, n, m }: Comparison['circuits'][number]): string {
  if (counts.length === 0) return ''
  const shown = counts.slice(0, OUTCOMES_SHOWN)
  const share = (count: number, shots: number | null): string =>
    shots ? `${((100 * count) / shots).toFixed(2)} %` : ''
  const rows = shown.map(({ outcome, a, b }) => [outcome, String(a), share(a, n), String(b), share(b, m)])
  const list = table(columns, rows)
  const more = counts.length - shown.length + left_out.outcomes
  return more > 0 ? `${list}\n\n${more} more outcome${more === 1 ? '' : 's'}` : list
}

function circuitsText({ circuits, circuits_left_out }: Comparison): string {
  const shown = circuits.slice(0, CIRCUITS_SHOWN)
  const list = table(
    [
      { heading: 'VERDICT', status: true },
      { heading: 'CIRCUIT', least: 10 }
    ],
    shown.map(({ verdict, name }) => [verdict, name])
  )
  const more = circuits.length - shown.length + circuits_left_out
  return more > 0 ? `${list}\n\n${more} more circuit${more === 1 ? '' : 's'}: --json has more of them` : list
}
