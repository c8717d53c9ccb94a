// Sealed results that no re-run can be compared with, so that people hear of it when they seal or schedule, not from each
// verdict.
import { type RunFacts, runCircuits } from './run-counts.js'
import { untestableAlone } from './statistics/gate.js'

export interface SealedTask {
  /** As messages name it. */
  task: string
  /** JSON text of the result. */
  text: string
  hardware: boolean
  local: boolean
}

/** @returns for each task whose every verification ends as `not_testable`: why. */
export function untestableTasks(tasks: readonly SealedTask[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const { task, text, hardware, local } of tasks) {
    const reason = untestableResult(text, { hardware, local, completedAt: null })
    if (reason !== null) found.set(task, reason)
  }
  return found
}

/** The worst verdict counts, so one circuit that cannot be compared is enough. A result without counts is compared as a value. */
function untestableResult(text: string, facts: RunFacts): string | null {
  if (!text.startsWith('{')) return null
  for (const run of runCircuits(text, facts).values()) {
    const reason = untestableAlone('the sealed run', run)
    if (reason !== null) return reason
  }
  return null
}
