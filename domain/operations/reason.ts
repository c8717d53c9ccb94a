// What an error says to somebody who is not reading its stack.

/** The first line of the innermost cause: what is around it repeats whole queries. */
export function reasonOf(error: unknown): string {
  let at = error as { message?: unknown; code?: unknown; cause?: unknown } | undefined
  while (typeof at?.cause === 'object' && at.cause !== null) at = at.cause as typeof at
  return String(at?.message || at?.code || error)
    .split('\n')[0]!
    .trim()
}
