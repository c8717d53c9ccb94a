// How a call to a provider is counted. Whoever makes one tells it here when it is over.

/**
 * @param provider as in the catalogue of backends.
 * @param operation what was asked: a word of a small set, such as `submit`, `status`, `cancel`; never an id or an address.
 * @param outcome `ok`, or the kind of the fault; a small set again.
 * @param seconds from the request to the end of its answer, or to giving it up.
 */
export type RecordProviderCall = (provider: string, operation: string, outcome: string, seconds: number) => void
