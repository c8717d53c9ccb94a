// The life of a job. Postgres holds the only copy of a status; every write goes through `transition` (db/jobs/job-transition.ts),
// which follows this table, and a trigger in the database refuses whatever the table does not name.

/** Which status may follow which. A status with nothing after it is final. */
export const nextStatuses = {
  pending: ['running', 'cancelling', 'cancelled', 'dispatch_failed', 'failed'],
  running: ['completed', 'failed', 'cancelling'],
  // A job that finished before the cancel took hold stays completed.
  cancelling: ['cancelled', 'completed', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
  dispatch_failed: []
} as const satisfies Record<string, readonly string[]>

export type JobStatus = keyof typeof nextStatuses

export const jobStatuses = Object.keys(nextStatuses) as JobStatus[]

export const isJobStatus = (text: string): text is JobStatus => Object.hasOwn(nextStatuses, text)

export const isFinal = (status: JobStatus): boolean => nextStatuses[status].length === 0

export const finalStatuses = jobStatuses.filter(isFinal)

export const mayFollow = (from: JobStatus, to: JobStatus): boolean =>
  (nextStatuses[from] as readonly JobStatus[]).includes(to)

/** The statuses that `to` may be written over, for the WHERE clause of a conditional update. */
export const statusesBefore = (to: JobStatus): JobStatus[] => jobStatuses.filter((from) => mayFollow(from, to))

export const taskStates = ['pending', 'running', 'completed', 'failed', 'cancelled', 'skipped'] as const
export type TaskState = (typeof taskStates)[number]

/** The state of a plain job's one task. `started`: the executor has accepted it at least once. */
export function taskStateOf(status: JobStatus, started: boolean): TaskState {
  switch (status) {
    case 'pending':
      return 'pending'
    case 'running':
    case 'cancelling':
      return started ? 'running' : 'pending'
    case 'dispatch_failed':
      return 'skipped'
    case 'cancelled':
      return started ? 'cancelled' : 'skipped'
    default:
      return status
  }
}

export const executionModes = ['direct', 'temporal'] as const
export type ExecutionMode = (typeof executionModes)[number]

/** How far a cancel got. Decided when the job ends, shown in its record. */
export const cancelOutcomes = ['stopped_before_provider', 'provider_confirmed', 'provider_unknown', 'too_late'] as const
export type CancelOutcome = (typeof cancelOutcomes)[number]

/** States of one accepted execution. `lost` is an execution whose end nobody saw. */
export const attemptStates = ['running', 'completed', 'failed', 'cancelled', 'lost'] as const
export type AttemptState = (typeof attemptStates)[number]

/** Why a job is not running yet, as `queue.reason` of its record gives it. */
export const queueReasons = [
  'not_before',
  'engine_unavailable',
  'waiting_for_worker',
  'backend_offline',
  'concurrency_limit',
  'earlier_task',
  'provider_queue'
] as const
export type QueueReason = (typeof queueReasons)[number]
