// Reads the record of a job. Its parameters and its result stay text, since a JavaScript number cannot hold each of their
// numbers, and of a large result only the head is received.
import { parse, stringify } from 'lossless-json'
import { jsonFields } from '../../../domain/json/json-text.js'
import type { components } from '../api/schema.js'

type Schemas = components['schemas']

export type JobRecord = Omit<Schemas['Job'], 'params' | 'result'> & {
  /** What the caller may do with it, or why not; absent in services that do not say it. */
  can?: Partial<Record<'cancel' | 'rerun', true | string>>
}

export interface ReadJob {
  record: JobRecord
  /** JSON text. */
  params: string
  /** JSON text, or the beginning of one. */
  result: { text: string; whole: boolean } | null
}

/** Of the text of a record; parameters may have 4 MiB. Beyond this, reading stops. */
export const RECORD_HEAD_BYTES = 6 * 1024 ** 2
/** Results up to this size are shown whole. */
export const SHOWN_BYTES = 1024 ** 2
/** What is shown of a larger one. */
const HEAD_CHARACTERS = 64 * 1024
/** Text up to this size is laid out, which parses it on the page's thread. */
const LAID_OUT_CHARACTERS = 256 * 1024

/**
 * @param text the record as the service sends it, with its result last; cut off when it was not received to its end.
 * @throws Error when it is no record.
 */
export function readJobRecord(text: string, received: 'whole' | 'head'): ReadJob {
  const start = startOfResult(text)
  if (start === null) throw new Error('The record of this job could not be read')
  const before = `${text.slice(0, start)}null}`
  const fields = jsonFields(before)
  const params = fields.get('params') ?? 'null'
  fields.delete('params')
  const record = Object.fromEntries([...fields].map(([name, value]) => [name, JSON.parse(value)])) as JobRecord
  const result = received === 'whole' ? text.slice(start, text.lastIndexOf('}')).trim() : text.slice(start)
  if (result === 'null') return { record, params, result: null }
  const whole = received === 'whole' && result.length <= SHOWN_BYTES
  return { record, params, result: { text: whole ? result : result.slice(0, HEAD_CHARACTERS), whole } }
}

/** Where the value of the top-level field `result` begins. */
function startOfResult(text: string): number | null {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (end === null) return null
      // A value "result" is not followed by a colon.
      if (depth === 1 && text[end] === ':' && text.slice(at, end) === '"result"') return end + 1
      at = end - 1
    } else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
  }
  return null
}

/** One past the closing quote. */
function endOfString(text: string, from: number): number | null {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1
    if (text[at] === '\\') at++
  }
  return null
}

/** The same JSON with a field a line, every digit kept. Long text stays as it is. */
export function laidOut(text: string): string {
  if (text.length > LAID_OUT_CHARACTERS) return text
  try {
    return stringify(parse(text), null, 2) ?? text
  } catch {
    return text
  }
}

/** Reads at most `RECORD_HEAD_BYTES` of a body. */
export async function readHead(response: Response): Promise<{ text: string; received: 'whole' | 'head' }> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text + decoder.decode(), received: 'whole' }
    bytes += value.length
    text += decoder.decode(value, { stream: true })
    if (bytes >= RECORD_HEAD_BYTES) {
      await reader.cancel()
      return { text, received: 'head' }
    }
  }
}
