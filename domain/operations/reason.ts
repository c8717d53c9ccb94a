// A short reason of an error, for readers without its stack.

/** The first line of the innermost cause. The outer errors repeat whole queries. */
export function reasonOf(error: unknown): string {
  let at = error as { message?: unknown; code?: unknown; cause?: unknown } | undefined
  while (typeof at?.cause === 'object' && at.cause !== null) at = at.cause as typeof at
  return String(at?.message || at?.code || error)
    .split('\n')[0]!
    .trim()
}
