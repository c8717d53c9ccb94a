// The life of a job. Postgres holds the only copy of a status. Every write goes through `transition`
// (db/jobs/job-transition.ts), which follows this table, and a database trigger refuses every other change.

/** Which status can follow which. A status without a successor is final. */
export const nextStatuses = {
  pending: ['running', 'cancelling', 'cancelled', 'dispatch_failed', 'failed'],
  running: ['completed', 'failed', 'cancelling'],
  // A job that finishes before the cancel takes effect stays completed.
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

/** The statuses that `to` can replace, for the WHERE clause of a conditional update. */
export const statusesBefore = (to: JobStatus): JobStatus[] => jobStatuses.filter((from) => mayFollow(from, to))

export const taskStates = ['pending', 'running', 'completed', 'failed', 'cancelled', 'skipped'] as const
export type TaskState = (typeof taskStates)[number]

/** The state of a plain job's only task. @param started whether the executor has accepted the task at least once. */
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

/** How far a cancel got. It is decided when the job ends, and the record of the job shows it. */
export const cancelOutcomes = ['stopped_before_provider', 'provider_confirmed', 'provider_unknown', 'too_late'] as const
export type CancelOutcome = (typeof cancelOutcomes)[number]

/** The states of one attempt. `lost`: the executor accepted the attempt, and no worker saw how it ended. */
export const attemptStates = ['running', 'completed', 'failed', 'cancelled', 'lost'] as const
export type AttemptState = (typeof attemptStates)[number]

export const jobEventTypes = ['status', 'attempt', 'output'] as const
export type JobEventType = (typeof jobEventTypes)[number]
