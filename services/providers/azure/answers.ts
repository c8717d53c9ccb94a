// What an answer of Azure's contains. Nothing about it is certain.
import type { ProviderResponse } from '../http.js'
import { answerOf as anyAnswer } from '../json-answers.js'

/** @throws ProviderFault `unclear` for a response without JSON. */
export const answerOf = <T extends object>(response: ProviderResponse): T => anyAnswer<T>(response, 'Azure Quantum')

/** Text is taken, and nothing else converted to it, since an object can keep that from working. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 100) : 'no text')
