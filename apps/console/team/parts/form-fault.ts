// Where the refusal of a form stands: its message begins with the path of a field.
import { messageOf } from '../../api/api-error.js'

export interface FormFault {
  field: string
  text: string
}

/** `null` where the message names none of the form's fields. */
export function fieldFault(error: unknown, fields: readonly string[]): FormFault | null {
  if (error === null || error === undefined) return null
  const [, field, text] = /^([\w.]+): (.*)$/s.exec(messageOf(error)) ?? []
  return field !== undefined && fields.includes(field) ? { field, text: text! } : null
}
