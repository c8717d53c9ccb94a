/** One line for each difference that a client can notice: the place, then what changed. */
export function openapiDifferences(before: unknown, after: unknown): string[]
