// Identifies a provider job.

/**
 * The only one of a plain job, or (`asked`) a requested circuit: `task` is the requester ('' for the script itself),
 * and `attempt` is the number of its request.
 */
export interface ProviderRef {
  jobId: string
  task: string
  attempt: number
  asked: boolean
}

/** A plain job has one provider job, submitted once. */
export const plainRef = (jobId: string): ProviderRef => ({ jobId, task: '', attempt: 1, asked: false })

export const requestedRef = (jobId: string, task: string, ask: number): ProviderRef => ({
  jobId,
  task,
  attempt: ask,
  asked: true
})
