// The life of a task at a provider, as its intent row tells it.

/**
 * `intended`: written down, perhaps sent; `accepted`: the provider gave it an id; `withdrawn`: certainly never accepted;
 * `unknown`: sent, and nobody can say what became of it. The others are what the provider said at the end.
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

/** Of an accepted task: whether it waits at the provider, by the status that was last noted of it (the adapters' words). */
export const isQueuedStatus = (status: string | null): boolean => status === 'queued'
