// The margin and the warnings that the service would give a seal: its own rules, run here before anything is final.
import { readRun } from '../../../../domain/verification/run-counts.js'
import { type SealOutlook, sealOutlook } from '../../../../domain/verification/untestable.js'

/** @param results with the JSON text of each. @returns `null` where they cannot be read. */
export function plannedSeal(
  results: readonly { task: string; text: string; hardware: boolean; local: boolean }[],
  declared: number | null
): SealOutlook | null {
  try {
    return sealOutlook(
      results.map(({ task, text, ...facts }) => ({ task, run: readRun(text, { ...facts, completedAt: null }) })),
      declared
    )
  } catch {
    return null
  }
}
