// Reads answers in JSON, whose form nothing guarantees.
import { ProviderFault } from './adapter.js'
import type { ProviderResponse } from './http.js'

/** `null` where the text is not JSON of an object or a list. */
export function parsed<T>(text: string): T | null {
  try {
    const value = JSON.parse(text) as T | null
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** @throws ProviderFault `unclear`: a response without JSON came from a proxy between the provider and us. */
export function answerOf<T extends object>({ text }: Pick<ProviderResponse, 'text'>, provider: string): T {
  const answer = parsed<T>(text)
  if (answer) return answer
  throw new ProviderFault('unclear', `${provider} responded without JSON`)
}
