// Reads answers, whose form nothing guarantees.
import { ProviderFault } from '../adapter.js'
import type { ProviderResponse } from '../http.js'

/** `null` where the text is not JSON of an object or a list. */
export function parsed<T>(text: string): T | null {
  try {
    const value = JSON.parse(text) as T | null
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** A response without JSON came from a proxy between Azure and us. */
export function answerOf<T extends object>({ text }: ProviderResponse): T {
  const answer = parsed<T>(text)
  if (answer) return answer
  throw new ProviderFault('unclear', 'Azure Quantum responded without JSON')
}

/** Text is taken, and nothing else converted to it, since an object can keep that from working. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 100) : 'no text')
