import type { CancelOutcome, JobStatus } from './job-status.js'

/** What of a job says whether its money waits for a figure. */
export interface EndOfJob {
  status: JobStatus
  errorCode: string | null
  cancelOutcome: CancelOutcome | null
}

/**
 * Whether a job may have ended with its reservation held, neither spent nor given back: a provider was asked, perhaps has
 * accepted, and has not said how it ended. It stays so until the provider, or an administrator, names the figure.
 */
export const mayHoldMoney = ({ status, errorCode, cancelOutcome }: EndOfJob): boolean =>
  (status === 'failed' && errorCode === 'provider_outcome_unknown') ||
  (status === 'cancelled' && cancelOutcome === 'provider_unknown')
