// The life of a provider job, as its row in `provider_tasks` records it.

/**
 * `intended`: recorded, and perhaps sent. `accepted`: the provider returned an id. `withdrawn`: certainly never
 * accepted. `unknown`: sent, and its outcome cannot be determined. The others are final states that the provider
 * reported.
 */
export const providerJobStates = [
  'intended',
  'accepted',
  'completed',
  'failed',
  'cancelled',
  'withdrawn',
  'unknown'
] as const
export type ProviderJobState = (typeof providerJobStates)[number]

/**
 * Where a provider keeps a team's jobs. It is stored with each provider job, and contains no secret. Empty for a provider
 * whose credentials do not name it.
 */
export type Place = Readonly<Record<string, string>> & {
  /** Only credentials of the same account (or instance, or workspace) show the job. The other values are the provider's. */
  readonly account?: string
}

/**
 * A provider job's id without the number of the team's account, which the ids of AWS contain (an ARN): results and evidence can
 * be published. The region and the last part still find the job in its account.
 */
export const idWithoutAccount = (id: string): string => id.replace(/^(arn:[^:]*:[^:]*:[^:]*):[^:]*:/, '$1::')

/** Whether an accepted provider job waits at the provider. @param status the status that an adapter last reported. */
export const isQueuedStatus = (status: string | null): boolean => status === 'queued'
