// What administrators see of the sweeps: the last pass of each, in any worker.

/** The names under which workers record the passes of their loops. Two loops can share a name. */
export const sweepNames = [
  'audit',
  'audit_file',
  'capsule_runs',
  'capsule_verdicts',
  'contents',
  'held_money',
  'held_starts',
  'job_contents',
  'job_mails',
  'leases',
  'money',
  'money_in_full',
  'outbox',
  'pending_usage',
  'provider_backends',
  'retention',
  'schedules',
  'schedules_in_full',
  'stalled_workflows',
  'storage',
  'storage_in_full',
  'usage',
  'webhook_log',
  'webhooks'
] as const
export type SweepName = (typeof sweepNames)[number]

export interface Finding {
  message: string
  /** ISO 8601: when it was first found. */
  at: string
}

export interface Sweep {
  name: string
  periodSeconds: number
  ranAt: Date
  succeededAt: Date | null
  /** The error of a failed pass after the last success, or of the last row that a successful pass could not handle. */
  error: string | null
  /** How many items were handled since the previous record. */
  handled: number
  /** How many rows could not be handled since then; each is tried again. */
  failed: number
  findings: Finding[]
  /** Whether the last success is more than ten periods ago. */
  late: boolean
}

export const sweepView = (sweep: Sweep) => ({
  ran_at: sweep.ranAt.toISOString(),
  succeeded_at: sweep.succeededAt?.toISOString() ?? null,
  late: sweep.late,
  handled: sweep.handled,
  failed: sweep.failed,
  error: sweep.error,
  findings: sweep.findings
})
