// `npm run statistics [-- trials]`: how often the tests of a verification detect a difference between simulated runs, over all
// relevant distributions, numbers of outcomes and shots; and how well the upper bound covers the true distance. Exits with 1
// if false alarms exceed alpha, if the power is below docs/capsules/verification.md, or if the bound covers too little.

import { ALPHA, BETA } from '../domain/verification/judge.js'
import { pairUp } from '../domain/verification/statistics/count-pair.js'
import { randomOf } from '../domain/verification/statistics/random.js'
import { distanceUpperBound } from '../domain/verification/statistics/upper-bound.js'
import { bell, sampler, shifted } from '../test/support/capsules/verification-runs.js'
import {
  binomialBound,
  changes,
  nulls,
  type Rates,
  type Scene,
  simulate
} from '../test/support/capsules/verification-simulation.js'
import { printTable } from './support/table.js'

const trials = Number(process.argv[2] ?? 1000)
if (!Number.isSafeInteger(trials) || trials < 10) {
  console.error('trials: must be a whole number from 10')
  process.exit(2)
}
const random = randomOf(process.argv[3] ?? 'statistics')
const outcomes = [4, 32, 256, 1024]
const equal = [100, 1000, 10_000, 100_000].map((shots) => [shots, shots] as const)
const unequal = [
  [1000, 100],
  [10_000, 1000],
  [1000, 100_000]
] as const

const problems: string[] = []
const shown = ({ name, outcomes: k, shots }: Scene): string[] => [name, String(k), shots.join(' + ')]
const rates = ({ pearson, cdvv, found }: Rates): string[] => [pearson, cdvv, found].map((rate) => rate.toFixed(4))

const nullScenes = nulls(outcomes, [...equal, ...unequal])
// Every scene has its own chance of a false alarm.
const allowed = binomialBound(trials, ALPHA, 0.001 / nullScenes.length)
const nullRows = nullScenes.map((scene) => {
  const found = simulate(scene, trials, random, true)
  if (found.found > allowed) problems.push(`false alarms of ${shown(scene).join(', ')}: ${found.found}`)
  process.stderr.write('.')
  return { scene, found }
})
printTable(
  `False alarms at alpha ${ALPHA} (${trials} trials each; at most ${allowed.toFixed(4)} in one line)`,
  ['law', 'outcomes', 'shots', 'pearson', 'cdvv', 'verdict', 'consistent'],
  nullRows.map(({ scene, found }) => [...shown(scene), ...rates(found), found.consistent.toFixed(3)])
)
const mean = nullRows.reduce((sum, { found }) => sum + found.found, 0) / nullRows.length
console.log(`all lines: ${mean.toFixed(5)} of ${trials * nullRows.length}\n`)
if (mean > binomialBound(trials * nullRows.length, ALPHA, 0.001)) problems.push(`false alarms in total: ${mean}`)

printTable(
  'Power',
  ['change', 'outcomes', 'shots', 'pearson', 'cdvv', 'verdict', 'possible'],
  changes.map((scene) => {
    const found = simulate(scene, trials, random)
    // The possible power is itself estimated from some hundred trials, with an error of about two in a hundred.
    if (1 - found.found > binomialBound(trials, 1.02 - scene.power, 0.001))
      problems.push(`power of ${shown(scene).join(', ')}: ${found.found}`)
    return [...shown(scene), ...rates(found), scene.power.toFixed(2)]
  })
)

const truths: [string, number[], number[], number, number][] = [
  ['one of two, 1.5 deviations', [0.5, 0.5], [0.5336, 0.4664], 1000, 1000],
  ['one of two, 2.5 deviations', [0.5, 0.5], [0.556, 0.444], 1000, 1000],
  ['one of two, rare', [0.95, 0.05], [0.9354, 0.0646], 1000, 1000],
  ['bell noise 5 to 15 %', bell(4, 0.05), bell(4, 0.15), 1000, 1000],
  ['bell noise 5 to 15 %', bell(4, 0.05), bell(4, 0.15), 1000, 5000],
  ['uniform moved by 0.10', shifted(32, 0), shifted(32, 0.1), 1000, 1000],
  ['bell noise 5 to 15 %', bell(1024, 0.05), bell(1024, 0.15), 2000, 500]
]
printTable(
  `The upper bound of the distance at ${1 - BETA}`,
  ['truth', 'outcomes', 'shots', 'distance', 'mean bound', 'covers'],
  truths.map(([name, p, q, n, m]) => {
    const [one, other] = [sampler(p, random), sampler(q, random)]
    const total = q.reduce((sum, weight) => sum + weight, 0)
    const truth = 0.5 * p.reduce((sum, weight, k) => sum + Math.abs(weight - q[k]! / total), 0)
    const bounds = Array.from({ length: trials }, () => distanceUpperBound(pairUp(one(n), other(m)), BETA, random))
    const covers = bounds.filter((bound) => bound >= truth).length / trials
    if (1 - covers > binomialBound(trials, BETA, 0.001)) problems.push(`the bound covers ${name}: ${covers}`)
    const average = bounds.reduce((sum, bound) => sum + bound, 0) / trials
    return [name, String(p.length), `${n} + ${m}`, truth.toFixed(4), average.toFixed(4), covers.toFixed(3)]
  })
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
