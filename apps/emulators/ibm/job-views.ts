// Jobs as IBM returns them.
import { isoTime } from '../clock.js'
import { codes } from './errors.js'
import type { Job } from './job.js'
import type { JobStore } from './jobs.js'

export function jobView(job: Job, jobs: JobStore, withParams: boolean): Record<string, unknown> {
  const { state, ranTooLong, endedAt } = jobs.course(job)
  const usage = usageView(job, jobs)
  return {
    id: job.id,
    backend: job.device,
    state: { status: state, ...reasonOf(job, jobs) },
    status: ranTooLong ? 'Cancelled - Ran too long' : state,
    ...(withParams && { params: job.body.params }),
    program: { id: job.body.program_id },
    created: isoTime(job.submittedAt),
    ...(endedAt !== null && { ended: isoTime(endedAt) }),
    cost: job.cost,
    tags: job.tags,
    user_id: job.caller.user,
    ...(usage && { usage }),
    estimated_running_time_seconds: job.needsSeconds,
    calibration_id: job.calibrationId
  }
}

function reasonOf(job: Job, jobs: JobStore): Record<string, unknown> {
  if (jobs.course(job).ranTooLong)
    return {
      reason: `Job was cancelled because it ran longer than its maximum execution time of ${job.cost} seconds.`,
      reason_code: codes.ranTooLong,
      reason_solution: 'Increase the maximum execution time, or run a smaller job.'
    }
  const failure = jobs.failure(job)
  if (!failure) return {}
  return { reason: failure.reason, ...(failure.code !== null && { reason_code: failure.code }) }
}

/** Before IBM has the figure, it is zero and pending. */
function usageView(job: Job, jobs: JobStore): Record<string, unknown> | null {
  const usage = jobs.usage(job)
  if (!usage) return null
  return {
    qpu_charge_time_seconds: usage.isPending ? 0 : usage.seconds,
    status: usage.isPending ? 'pending' : 'complete'
  }
}

export function metricsView(job: Job, jobs: JobStore): Record<string, unknown> {
  const { startedAt, endedAt } = jobs.course(job)
  const usage = usageView(job, jobs)
  return {
    timestamps: {
      created: isoTime(job.submittedAt),
      ...(startedAt !== null && { running: isoTime(startedAt) }),
      ...(endedAt !== null && { finished: isoTime(endedAt) })
    },
    ...(usage && { usage })
  }
}
