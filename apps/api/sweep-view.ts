import type { Sweep } from '../../db/sweeps.js'

/** The last pass of a sweep, for administrators. `error` is of a pass after the last success. */
export const sweepView = (sweep: Sweep) => ({
  ran_at: sweep.ranAt.toISOString(),
  succeeded_at: sweep.succeededAt?.toISOString() ?? null,
  late: sweep.late,
  handled: sweep.handled,
  error: sweep.error,
  findings: sweep.findings
})
