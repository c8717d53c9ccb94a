// What IBM answers. Nothing about it is certain: every value is checked for its type and length before it is used.
import { ProviderFault, type ProviderFaultKind } from '../adapter.js'
import type { ProviderResponse, Refusals } from '../http.js'
import { parsed } from '../json-answers.js'

export type Answer = Readonly<Record<string, unknown>>

export const isAnswer = (value: unknown): value is Answer =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** `{}` for any value that is not an object. */
export const partOf = (value: unknown): Answer => (isAnswer(value) ? value : {})

/** The text, cut off at `max` characters; `null` for anything else. */
export const textOf = (value: unknown, max: number): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, max) : null

const wordsOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

export const countOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null

/** An id of IBM's, such as `da16cgu3kjvs7386btng`; `null` for what cannot be one. */
export const idOf = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w-]{1,100}$/.test(value) ? value : null

/** @throws ProviderFault `unclear`: a response that is not an object came from a proxy between IBM and us. */
export function answerOf({ text }: ProviderResponse, service = 'IBM Quantum'): Answer {
  const answer = parsed(text)
  if (isAnswer(answer)) return answer
  throw new ProviderFault('unclear', `${service} responded without a JSON object`)
}

/** IBM's error codes that say more than their status (quantum.cloud.ibm.com/docs/errors). */
const meanings: Readonly<Record<string, ProviderFaultKind>> = {
  // The user has as many jobs under way as the plan allows.
  1012: 'busy',
  3458: 'busy',
  // The job has no result yet.
  1234: 'not_found',
  1291: 'not_found'
}

/** Of the API: `{ errors: [{ code, message }] }`, in older versions `{ error: { code, message } }`. */
export const refusals: Refusals = {
  messageOf(response) {
    const { message } = errorOf(response)
    return wordsOf(message)
  },
  noteOf(response) {
    const { code, message } = errorOf(response)
    return wordsOf(message) !== null && codeOf(code) !== '' ? ` (${codeOf(code)})` : ''
  },
  kindOf(response) {
    const { status } = response
    if (status < 400 || status >= 500) return null
    const code = codeOf(errorOf(response).code)
    if (Object.hasOwn(meanings, code)) return meanings[code]!
    // The instance has used up its seconds: nothing was accepted, and the next period brings new ones.
    return status === 409 ? 'busy' : null
  }
}

function errorOf({ text }: ProviderResponse): Answer {
  const { errors, error } = partOf(parsed(text))
  return partOf(Array.isArray(errors) ? errors[0] : error)
}

/** A number or its digits. */
const codeOf = (code: unknown): string =>
  (typeof code === 'number' || typeof code === 'string') && /^\d{1,6}$/.test(`${code}`) ? `${code}` : ''

/** Of IAM, which answers 400 for a key that it does not know. */
export const iamRefusals: Refusals = {
  messageOf({ status, text }) {
    const words = wordsOf(partOf(parsed(text)).errorMessage)
    return status === 400 ? (words ?? 'it gave no reason') : words
  },
  noteOf: ({ status }) => (status === 400 ? "; store a valid token in the team's ibm-quantum credentials" : ''),
  kindOf: ({ status }) => (status === 400 ? 'unauthorized' : null)
}
