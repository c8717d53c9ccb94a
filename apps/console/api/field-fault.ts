import { messageOf } from './api-error.js'

export interface FieldFault<Name extends string = string> {
  field: Name
  text: string
}

/**
 * The field that a refusal is about, where it is one of these: its message begins with the path of the field, or of a
 * part of it, which then stays in the text.
 */
export function fieldFault<Name extends string>(error: unknown, names: readonly Name[]): FieldFault<Name> | null {
  if (error === null || error === undefined) return null
  const message = messageOf(error)
  const [, path, text] = /^([\w.[\]]+): (.*)$/s.exec(message) ?? []
  if (path === undefined) return null
  const field = names.find((name) => name === path)
  if (field !== undefined) return { field, text: text! }
  const whole = names.find((name) => path.startsWith(`${name}[`) || path.startsWith(`${name}.`))
  return whole === undefined ? null : { field: whole, text: message }
}
