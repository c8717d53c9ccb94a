/** What the service says in the body of a refusal. */
export function wordsOf(body: unknown): string {
  const { error } = body as { error: { message: string } | string }
  return typeof error === 'string' ? error : error.message
}
