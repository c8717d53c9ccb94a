// Logs one line, with the ids to find it by, for each change of a job's status that this process commits.
import type { StatusChange, StatusListener } from '../../db/jobs/status-changes.js'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import { usdFromMicro } from '../../domain/money/money.js'

export interface JobLog {
  info(fields: object, message: string): void
}

const messageOf = (to: JobStatus): string => {
  if (to === 'running') return 'job begun'
  return isFinal(to) ? 'job ended' : `job ${to}`
}

export function statusLogger(log: JobLog): StatusListener {
  return (change) => {
    const { jobId, teamId, requestId, to: status, mode, backend, generation, errorCode, cost } = change
    const ids = { jobId, teamId, requestId, mode, backend, generation }
    if (!isFinal(status)) return log.info({ ...ids, ...waited(change) }, messageOf(status))
    const end = { code: errorCode, costUsd: cost === null ? null : usdFromMicro(cost), seconds: change.ranSeconds }
    log.info({ ...ids, status, ...end }, messageOf(status))
  }
}

const waited = ({ to, queuedSeconds }: StatusChange) => (to === 'running' ? { queuedSeconds } : {})
