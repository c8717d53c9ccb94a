// The margin of a capsule: the distance that a verification tolerates, and what the sealed shots can resolve.

import { type RunReading, readRun } from './run-counts.js'
import type { Counts } from './statistics/count-pair.js'
import { neededShots, rerunShots, shown, smallestMargin } from './statistics/shots-needed.js'

/** The total variation distance that is tolerated even when the shots could resolve less. */
const MARGIN_SIMULATOR = 0.05
const MARGIN_HARDWARE = 0.1
/** The share of equal runs that may miss the margin, as in the verification. */
const BETA = 0.05

/** The smallest default margin, used when the shots could resolve less. */
export const marginFloor = (hardware: boolean): number => (hardware ? MARGIN_HARDWARE : MARGIN_SIMULATOR)

export interface SealedResult {
  /** Of the task, as messages name it. */
  task: string
  run: RunReading
}

export interface SealedMargin {
  margin: number
  /** One warning for each task whose sealed shots are too few for the declared margin, or for the default one. */
  warnings: string[]
}

/**
 * @param declared `null` for the default: the smallest margin that the sealed shots can resolve, but at least the
 * floor.
 */
export function sealedMargin(results: readonly SealedResult[], declared: number | null): SealedMargin {
  const coarsest = results.flatMap(coarsestOf)
  const usual = marginFloor(results.some(({ run }) => run.facts.hardware))
  const margin = declared ?? roundedUp(Math.max(usual, ...coarsest.map(({ smallest }) => smallest)))
  const wanted = declared ?? usual
  return {
    margin,
    warnings: coarsest.filter(({ smallest }) => smallest > wanted).map((circuit) => warningOf(circuit, wanted, margin))
  }
}

/** The default margin, rounded up to four decimals. @param results texts of the sealed results. */
export const defaultMargin = (results: readonly { text: string; hardware: boolean }[]): number =>
  sealedMargin(
    results.map(({ text, hardware }) => ({
      task: '',
      run: readRun(text, { hardware, local: false, completedAt: null })
    })),
    null
  ).margin

const roundedUp = (margin: number): number => Math.min(1, Math.ceil(margin * 10_000) / 10_000)

interface Coarsest {
  task: string
  shots: number
  /** The smallest margin that a re-run with as many shots can resolve. */
  smallest: number
  counts: Counts
}

/** The circuit of a result that resolves the least; none when nothing was counted. */
function coarsestOf({ task, run }: SealedResult): Coarsest[] {
  const circuits = [...run.circuits.values()].map(({ counts }) => ({
    task,
    shots: Object.values(counts).reduce((sum, count) => sum + count, 0),
    smallest: smallestMargin(counts, BETA),
    counts
  }))
  return circuits.sort((one, other) => other.smallest - one.smallest).slice(0, 1)
}

function warningOf({ task, shots, smallest, counts }: Coarsest, wanted: number, margin: number): string {
  const needed = Math.max(neededShots(counts, wanted, BETA), Math.ceil(shots * (smallest / wanted) ** 2))
  const rerun = rerunShots(shots, needed)
  const remedy = 'shots' in rerun ? `a re-run would need about ${shown(rerun.shots)} shots` : rerun.impossible
  return (
    `task ${JSON.stringify(task)}: ${shown(shots)} sealed shots cannot resolve a margin of ${wanted}, ` +
    `${margin === wanted ? 'so that a verification with as many is most likely not_testable' : `so that ${margin} is tolerated`}; ${remedy}`
  )
}
