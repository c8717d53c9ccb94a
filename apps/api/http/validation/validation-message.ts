// Writes one sentence per refused field: where, what is allowed, what was sent. A fault of the validator has `parentSchema` and
// `data`, because the validator runs with `verbose`.
import { type Fault, MORE } from './validation-faults.js'

/** Fields whose value must not be repeated in a response or a log. */
const secret = /(^|\.)(password|new_password|code|token|secret)s?($|[.[])/

/** @param context what the faults are of where they name no field, such as `body`. */
export const validationMessages = (faults: readonly Fault[], context: string): string =>
  faults.map((fault) => validationMessage(fault, context)).join('; ')

function validationMessage(error: Fault, context: string): string {
  if (error.keyword === MORE) return `and ${error.params.count} more`
  const path = pathOf(error.instancePath)
  if (error.keyword === 'required') return `${join(path, String(error.params.missingProperty))}: is required`
  if (error.keyword === 'additionalProperties')
    return `${join(path, String(error.params.additionalProperty))}: is not a field of this request`
  const got = secret.test(path) || error.data === undefined ? '' : ` (got ${shown(error.data)})`
  return `${path || context}: ${expectation(error)}${got}`
}

function expectation(error: Fault): string {
  const schema = error.parentSchema ?? {}
  if (Array.isArray(schema.enum)) return `must be one of ${schema.enum.join(', ')}`
  switch (schema.type) {
    case 'integer':
    case 'number':
      return `must be ${schema.type === 'integer' ? 'an integer' : 'a number'}${range(schema, 'minimum', 'maximum', '')}`
    case 'string': {
      if (error.keyword === 'format') return `must be a valid ${schema.format}`
      if (error.keyword === 'pattern') return `must match ${schema.pattern}`
      return `must be a string${range(schema, 'minLength', 'maxLength', ' characters')}`
    }
    case 'array':
      return `must be a list${range(schema, 'minItems', 'maxItems', ' items')}`
    case 'object':
      if (error.keyword === 'maxProperties') return `must have at most ${schema.maxProperties} keys`
      return error.keyword === 'minProperties' ? 'must name at least one field' : 'must be an object'
    case 'boolean':
      return 'must be true or false'
    default:
      return error.message ?? 'is not valid'
  }
}

function range(schema: Record<string, unknown>, lowest: string, highest: string, unit: string): string {
  const [low, high] = [schema[lowest], schema[highest]]
  const joiner = unit ? ' of ' : ' '
  if (low !== undefined && high !== undefined) return `${joiner}${unit ? '' : 'from '}${low} to ${high}${unit}`
  if (high !== undefined) return `${joiner}at most ${high}${unit}`
  return low === undefined ? '' : `${joiner}at least ${low}${unit}`
}

const SHOWN_MAX = 60

function shown(value: unknown): string {
  if (typeof value === 'string' && value.length > SHOWN_MAX) return `a string of ${[...value].length} characters`
  if (Array.isArray(value)) return `a list of ${value.length} items`
  if (typeof value === 'object' && value !== null) return 'an object'
  return JSON.stringify(value)
}

/** `/params/labels/0` -> `params.labels[0]` */
const pathOf = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), '')

const join = (path: string, key: string): string => (path ? `${path}.${key}` : key)
