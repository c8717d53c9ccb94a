import { ApiError, messageOf } from '../../api/api-error.js'
import { type FieldRefusal, type JobSettings, refusalAt } from './settings.js'

interface Refusals<Field extends string> {
  at: (field: Field) => string | null
  /** Of a parameter that has a field of its own. */
  atParam: (name: string) => string | null
  /** Those that no field shows. */
  rest: readonly unknown[]
}

/**
 * What requests of a form were refused with, each at its field.
 * @param more fields besides those of the settings, by their names in the API.
 * @param unseen fields that show no fault.
 * @param params that have a field of their own.
 */
export function refusalsOf<More extends string = never>(
  errors: readonly unknown[],
  {
    more = {},
    unseen = [],
    params = []
  }: { more?: Readonly<Record<string, More>>; unseen?: readonly More[]; params?: readonly string[] }
): Refusals<keyof JobSettings | More> {
  const placed: FieldRefusal<keyof JobSettings | More>[] = []
  const rest = new Map<string, unknown>()
  for (const error of errors) {
    if (!error) continue
    const found = error instanceof ApiError && error.status === 400 ? refusalAt<More>(error.message, more) : null
    if (found === null || (unseen as readonly string[]).includes(found.field)) rest.set(messageOf(error), error)
    else placed.push(found)
  }
  const isOwn = ({ param }: { param: string | null }) => param !== null && params.includes(param)
  return {
    at: (field) => placed.find((one) => one.field === field && !isOwn(one))?.text ?? null,
    atParam: (name) => placed.find((one) => one.param === name && isOwn(one))?.text ?? null,
    rest: [...rest.values()]
  }
}
