// The expectation values of a result, each number as the result writes it.
import { jsonFields, jsonItems } from '../../../domain/json/json-text.js'

export interface Observable {
  name: string
  value: string
  /** `0` of an exact value, `null` where it is not known. */
  error: string | null
  /** `exact`, `sampled`; `null` where the result does not say. */
  method: string | null
}

/** @param text the JSON text of a job's result, or of one point. @returns none where it has none that can be read. */
export function readObservables(text: string): Observable[] {
  try {
    const list = jsonFields(text).get('expectation_values')
    return list?.startsWith('[') ? jsonItems(list).map(observableOf) : []
  } catch {
    return []
  }
}

function observableOf(text: string): Observable {
  const fields = jsonFields(text)
  const error = fields.get('standard_error') ?? 'null'
  return {
    name: textOf(fields.get('observable')) ?? '',
    value: fields.get('value') ?? '',
    error: error === 'null' ? null : error,
    method: textOf(fields.get('method'))
  }
}

const textOf = (value: string | undefined): string | null =>
  value?.startsWith('"') ? (JSON.parse(value) as string) : null

/** `0.497 ± 0.0316`, `1 (exact)` */
export const observedText = ({ value, error, method }: Observable): string =>
  method === 'exact'
    ? `${value} (exact)`
    : error === null
      ? `${value} (standard error not known)`
      : `${value} ± ${error}`
