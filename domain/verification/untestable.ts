// What a seal fixes for all verifications to come: the margin, and the results that no re-run can be compared with, so that
// people learn of both before they seal or schedule, not from each verdict.
import { type SealedMargin, type SealedResult, sealedMargin } from './margin.js'
import type { RunReading } from './run-counts.js'
import { unfixedAlone, untestableAlone } from './statistics/gate.js'

export interface SealOutlook extends SealedMargin {
  /** Why every verification of the capsule ends as `not_testable`; `null` when one can end otherwise. */
  untestable: string | null
}

/** @param declared the margin; `null` for the default one. */
export function sealOutlook(results: readonly SealedResult[], declared: number | null): SealOutlook {
  const never = results.flatMap(({ task, run }) => {
    const reason = untestableResult(run)
    return reason === null ? [] : [{ task, reason }]
  })
  const testable = results.filter(({ task }) => !never.some((one) => one.task === task))
  const untestable = never.map(
    ({ task, reason }) => `task ${JSON.stringify(task)}: every verification is not_testable: ${reason}`
  )
  return {
    margin: sealedMargin(results, declared).margin,
    warnings: [...untestable, ...sealedMargin(testable, declared).warnings],
    untestable: never.length === results.length ? untestable.join('; ') : null
  }
}

/** The worst verdict counts, so one circuit that cannot be compared is enough. */
function untestableResult(run: RunReading): string | null {
  const circuits = [...run.circuits.values()]
  for (const circuit of circuits) {
    const reason = untestableAlone(SEALED, circuit)
    if (reason !== null) return reason
  }
  const unfixed = circuits.length === 0 ? unfixedAlone(SEALED, run) : null
  return unfixed && `the result has no counts, and ${unfixed}`
}

const SEALED = 'the sealed run'
