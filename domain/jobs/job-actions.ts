// What can be done with a job in which state, and by whom in its team.
import { ServiceError, validationError } from '../errors.js'
import { isFinal, type JobStatus } from './job-status.js'

/** @throws ServiceError `conflict`. */
export function assertCancellable(status: JobStatus): void {
  if (isFinal(status))
    throw new ServiceError('conflict', `the job is already ${status}; only a job that is not final can be cancelled`)
}

/** For what is made of a job that a body names as `job_id`. @throws ServiceError `validation_error`. */
export function assertCompleted(status: JobStatus): void {
  if (status !== 'completed') throw validationError(`job_id: must be a completed job (it is ${status})`)
}

/** @param userId who wants to save its code. @throws ServiceError `permission_denied`. */
export function assertSubmitter(job: { userId: string | null }, userId: string): void {
  if (job.userId !== userId)
    throw new ServiceError('permission_denied', 'job_id: only the submitter of a job can save its code')
}

/** @param kind of the job's source. @throws ServiceError `validation_error`. */
export function assertInlineCode(kind: string): void {
  if (kind !== 'inline') throw validationError(`job_id: has no inline code: it ran a ${kind}`)
}
