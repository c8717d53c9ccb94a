// The few lines that a program puts under `_summary` in its result, for lists of jobs, which show no results.
import { storableText } from '../json/json-guard.js'
import { jsonFields } from '../json/json-text.js'

/** Larger results are not searched: finding a field reads the whole text, and the process does nothing else meanwhile. */
export const SEARCHED_CHARACTERS_MAX = 4 * 1024 * 1024
export const SUMMARY_LINES_MAX = 20
export const LABEL_CHARACTERS_MAX = 100
export const TEXT_CHARACTERS_MAX = 200

/**
 * The lines by label, in their order, cut to the limits above; `null` when the result has none.
 * @param result JSON text of an object, as the executor writes it.
 */
export function resultSummary(result: string): Record<string, string> | null {
  if (result.length > SEARCHED_CHARACTERS_MAX || !result.includes('"_summary"')) return null
  const summary = jsonFields(result).get('_summary')
  if (!summary?.startsWith('{')) return null
  const lines = [...jsonFields(summary)].slice(0, SUMMARY_LINES_MAX)
  if (lines.length === 0) return null
  return Object.fromEntries(
    lines.map(([label, value]) => [cut(label, LABEL_CHARACTERS_MAX), cut(textOf(value), TEXT_CHARACTERS_MAX)])
  )
}

/** Numbers can be beyond JavaScript's range: whatever is not a text is shown as it is written. */
const textOf = (value: string): string => (value.startsWith('"') ? (JSON.parse(value) as string) : value)

function cut(text: string, characters: number): string {
  const short = text.length <= characters ? text : `${text.slice(0, characters - 3).replace(/[\ud800-\udbff]$/, '')}...`
  return storableText(short)
}
