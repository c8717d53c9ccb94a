import type { CancelOutcome, JobStatus } from './job-status.js'

/** The fields of a job that decide whether its money is held. */
export interface EndOfJob {
  status: JobStatus
  errorCode: string | null
  cancelOutcome: CancelOutcome | null
}

/**
 * Whether a finished job can still hold its reservation, neither settled nor released: the provider may have accepted
 * the job and has not reported how it ended. The reservation stays held until the provider reports a cost or an
 * administrator settles it.
 */
export const mayHoldMoney = ({ status, errorCode, cancelOutcome }: EndOfJob): boolean =>
  (status === 'failed' && errorCode === 'provider_outcome_unknown') ||
  (status === 'cancelled' && cancelOutcome === 'provider_unknown')
