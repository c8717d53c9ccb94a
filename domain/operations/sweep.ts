// What administrators see of the sweeps: the last pass of each, whichever worker made it.

export interface Finding {
  message: string
  /** ISO 8601, when it was found first. */
  at: string
}

export interface Sweep {
  name: string
  periodSeconds: number
  ranAt: Date
  succeededAt: Date | null
  /** Of a pass after the last success. */
  error: string | null
  /** How much was dealt with since the note before. */
  handled: number
  findings: Finding[]
  /** Its last success is longer ago than ten periods. */
  late: boolean
}

export const sweepView = (sweep: Sweep) => ({
  ran_at: sweep.ranAt.toISOString(),
  succeeded_at: sweep.succeededAt?.toISOString() ?? null,
  late: sweep.late,
  handled: sweep.handled,
  error: sweep.error,
  findings: sweep.findings
})
