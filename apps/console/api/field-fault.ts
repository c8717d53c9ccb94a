import { ApiError } from './api-error.js'

/** The field that a refusal is about, where it is one of these: its message begins with the path of the field. */
export function fieldFault<Name extends string>(
  error: unknown,
  names: readonly Name[]
): { field: Name; text: string } | null {
  if (!(error instanceof ApiError) || error.status !== 400) return null
  const [, path, text] = /^([\w.]+): (.*)$/s.exec(error.message) ?? []
  const field = names.find((name) => name === path)
  return field === undefined ? null : { field, text: text! }
}
