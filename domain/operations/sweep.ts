// What administrators see of the sweeps: the last pass of each, whichever worker made it.

/** The names under which the loops of the workers record their passes. Two loops may share a name. */
export const sweepNames = [
  'audit',
  'audit_file',
  'capsule_runs',
  'capsule_verdicts',
  'held_money',
  'held_starts',
  'job_mails',
  'leases',
  'money',
  'money_in_full',
  'outbox',
  'provider_backends',
  'retention',
  'schedules',
  'stalled_workflows',
  'usage',
  'webhook_log',
  'webhooks'
] as const
export type SweepName = (typeof sweepNames)[number]

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
