import { messageOf } from './api-error.js'

export interface FieldFault<Name extends string = string> {
  field: Name
  text: string
}

/** A refusal's message begins with the path of its field. @returns the path and the rest; `null` where it names none. */
export function refusedPath(message: string): { path: string; text: string } | null {
  const [, path, text] = /^([\w.[\]]+): (.*)$/s.exec(message) ?? []
  return path === undefined ? null : { path, text: text! }
}

/**
 * The field that a refusal is about, where it is one of these. Where the path is that of a part of the field, it stays in
 * the text.
 */
export function fieldFault<Name extends string>(error: unknown, names: readonly Name[]): FieldFault<Name> | null {
  if (error === null || error === undefined) return null
  const message = messageOf(error)
  const refused = refusedPath(message)
  if (refused === null) return null
  const { path, text } = refused
  const field = names.find((name) => name === path)
  if (field !== undefined) return { field, text }
  const whole = names.find((name) => path.startsWith(`${name}[`) || path.startsWith(`${name}.`))
  return whole === undefined ? null : { field: whole, text: message }
}
