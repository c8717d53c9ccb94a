import { validationError } from '../../../../domain/errors.js'

/** The time in a query parameter. Its format allows leap seconds, which a Date does not know. */
export function timeOf(field: string, text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw validationError(`${field}: must be an ISO 8601 time`)
  return time
}
