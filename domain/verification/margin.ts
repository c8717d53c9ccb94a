// The margin of a capsule: what a verification is to tolerate, and what the sealed shots can show.

import { runCircuits } from './run-counts.js'
import type { Counts } from './statistics/count-pair.js'
import { neededShots, rerunShots, shown, smallestMargin } from './statistics/shots-needed.js'

/** Total variation distance that is tolerated where the shots could show less. */
const MARGIN_SIMULATOR = 0.05
const MARGIN_HARDWARE = 0.1
/** Share of equal runs that may miss the margin, as in the verification. */
const BETA = 0.05

/** Where the shots could show less. */
export const marginFloor = (hardware: boolean): number => (hardware ? MARGIN_HARDWARE : MARGIN_SIMULATOR)

export interface SealedResult {
  /** Of the task, as messages name it. */
  task: string
  /** JSON text of the result. */
  text: string
  hardware: boolean
}

export interface SealedMargin {
  margin: number
  /** For each task whose sealed shots are too few for the margin, or for the usual one where none was declared. */
  warnings: string[]
}

/** @param declared `null`: the usual margin, or the smallest that the sealed shots can resolve where that is more. */
export function sealedMargin(results: readonly SealedResult[], declared: number | null): SealedMargin {
  const coarsest = results.flatMap(({ task, text, hardware }) => coarsestOf(task, text, hardware))
  const usual = marginFloor(results.some(({ hardware }) => hardware))
  const margin = declared ?? roundedUp(Math.max(usual, ...coarsest.map(({ smallest }) => smallest)))
  const wanted = declared ?? usual
  return {
    margin,
    warnings: coarsest.filter(({ smallest }) => smallest > wanted).map((circuit) => warningOf(circuit, wanted, margin))
  }
}

/** @param results texts of the sealed results; rounded up to four decimals. */
export const defaultMargin = (results: readonly Omit<SealedResult, 'task'>[]): number =>
  sealedMargin(
    results.map((result) => ({ ...result, task: '' })),
    null
  ).margin

const roundedUp = (margin: number): number => Math.min(1, Math.ceil(margin * 10_000) / 10_000)

interface Coarsest {
  task: string
  shots: number
  /** What a re-run with as many shots can resolve. */
  smallest: number
  counts: Counts
}

/** The circuit of a result that resolves least; none where nothing was counted. */
function coarsestOf(task: string, text: string, hardware: boolean): Coarsest[] {
  // A result that is no object has no counts.
  if (!text.startsWith('{')) return []
  const circuits = [...runCircuits(text, { hardware, local: false, completedAt: null }).values()].map(({ counts }) => ({
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
