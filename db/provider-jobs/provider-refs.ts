// Which task at a provider is meant.

/**
 * The one task of a plain job, or (`asked`) the circuit of an ask: `task` is who asks, '' for the script itself, `attempt`
 * the number of its ask.
 */
export interface ProviderRef {
  jobId: string
  task: string
  attempt: number
  asked: boolean
}

/** A plain job has one task, asked for once. */
export const plainRef = (jobId: string): ProviderRef => ({ jobId, task: '', attempt: 1, asked: false })

export const requestedRef = (jobId: string, task: string, ask: number): ProviderRef => ({
  jobId,
  task,
  attempt: ask,
  asked: true
})
