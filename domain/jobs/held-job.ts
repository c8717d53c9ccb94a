import { ServiceError } from '../errors.js'
import { formatUsd, type MicroUsd } from '../money/money.js'
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

/** @throws ServiceError `conflict` unless the money of the job is held. */
export function assertMoneyHeld(job: EndOfJob & { actualCost: MicroUsd | null }): void {
  if (!mayHoldMoney(job))
    throw new ServiceError('conflict', `the money of this job is not held: it is ${job.status} and settled as such`)
  if (job.actualCost !== null)
    throw new ServiceError(
      'conflict',
      `this job was settled before, with ${formatUsd(job.actualCost)}; another figure is a correction, not a settlement`
    )
}
