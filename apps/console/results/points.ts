// The points of a sweep as a table shows them: every number in the digits of the result.
import { jsonFields } from '../../../domain/json/json-text.js'
import { type Observable, readObservables } from './observables.js'

interface Point {
  index: number
  /** `theta = 1.57, shots = 200` */
  params: string
  observables: readonly Observable[]
  /** JSON text of what a program returned. */
  value: string | null
  /** The message of a point without a result. */
  error: string | null
}

/** @param text the JSON text of one point. @param place in the list of points, which is its number where it states none. */
export function readPoint(text: string, place: number): Point {
  const fields = jsonFields(text)
  const params = [...jsonFields(fields.get('params') ?? '{}')].map(([name, value]) => `${name} = ${value}`)
  return {
    index: Number(fields.get('index') ?? place),
    params: params.join(', '),
    observables: readObservables(text),
    value: fields.get('value') ?? null,
    error: messageOf(fields.get('error'))
  }
}

function messageOf(error: string | undefined): string | null {
  if (error === undefined || error === 'null') return null
  const { message } = JSON.parse(error) as { message?: unknown }
  return typeof message === 'string' ? message : error
}
