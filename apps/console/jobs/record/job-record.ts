// Reads the record of a job and its result. Parameters and result stay text, since a JavaScript number cannot hold each of
// their numbers, and of a large result only the head is received.
import { parse, stringify } from 'lossless-json'
import { jsonFields } from '../../../../domain/json/json-text.js'
import type { components } from '../../api/schema.js'

type Schemas = components['schemas']

/** Without its result, whose size is in `result_bytes`; `null` where there is none. */
export type JobRecord = Omit<Schemas['Job'], 'params' | 'result'>

export interface ReadJob {
  record: JobRecord
  /** JSON text. */
  params: string
  /** When the service answered, by its own clock, in milliseconds since 1970; 0 where it does not say. */
  readAt: number
}

export interface ReadResult {
  /** JSON text, or the beginning of one. */
  text: string
  whole: boolean
}

/** Results up to this size are shown whole. */
export const SHOWN_BYTES = 1024 ** 2
/** What is shown of a larger one. */
export const HEAD_BYTES = 64 * 1024
/** Text up to this size is laid out, which parses it on the page's thread. */
const LAID_OUT_CHARACTERS = 256 * 1024

/**
 * @param text the record as the service sends it without its result.
 * @param date of the response.
 * @throws Error when it is not a record.
 */
export function readJobRecord(text: string, date: string | null = null): ReadJob {
  const fields = jsonFields(text)
  const params = fields.get('params') ?? 'null'
  for (const name of ['params', 'result']) fields.delete(name)
  const record = Object.fromEntries([...fields].map(([name, value]) => [name, JSON.parse(value)])) as JobRecord
  return { record, params, readAt: Date.parse(date ?? '') || 0 }
}

/** @param bytes the size of the result, as the record says it. */
export async function readResult(response: Response, bytes: number): Promise<ReadResult> {
  if (bytes <= SHOWN_BYTES) return { text: await response.text(), whole: true }
  return { text: await readHead(response, HEAD_BYTES), whole: false }
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

/** The beginning of a body; the rest is not received. */
async function readHead(response: Response, bytesMax: number): Promise<string> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    const part = value.subarray(0, bytesMax - bytes)
    bytes += part.length
    // A character that the end cuts in two is left out.
    text += decoder.decode(part, { stream: true })
    if (bytes >= bytesMax) {
      await reader.cancel()
      return text
    }
  }
}
