// The life of a task at a provider, as its intent row tells it.

/**
 * `intended`: written down, perhaps sent; `accepted`: the provider gave it an id; `withdrawn`: certainly never accepted;
 * `unknown`: sent, and nobody can say what became of it. The others are what the provider said at the end.
 */
export type ProviderTaskState = 'intended' | 'accepted' | 'completed' | 'failed' | 'cancelled' | 'withdrawn' | 'unknown'
