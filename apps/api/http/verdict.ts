// What a caller can do now, as records show it: `true`, or the words of the refusal. Each verdict comes from the functions that
// refuse the request.
import { Type } from 'typebox'
import { codeOf } from '../../../domain/errors.js'
import { text } from './response.js'

export const Verdict = Type.Union([Type.Literal(true), text])

/** A fault of the service is rethrown. */
export function verdict(assert: () => void): true | string {
  try {
    assert()
    return true
  } catch (error) {
    return wordsOf(error)
  }
}

/** The same, for conditions that are read from the database. */
export async function verdictLater(assert: () => Promise<void>): Promise<true | string> {
  try {
    await assert()
    return true
  } catch (error) {
    return wordsOf(error)
  }
}

function wordsOf(error: unknown): string {
  if (codeOf(error) === null) throw error
  return (error as Error).message
}
