// The form of a script's parameters: of a template from what its record describes, of another script from the names that
// reading it found. Whether a value is right is decided by the record, else by the program.
import { parse } from 'lossless-json'
import type { components } from '../../api/schema.js'

export type TemplateParameter = components['schemas']['TemplateParameter']

export interface RunField {
  name: string
  /** `null`: only its name is known. */
  described: TemplateParameter | null
}

/** The form has a field of its own for each of these; the service fills in the backend. */
const others = ['shots', 'seed', 'backend']

export function runFields({
  entry_point,
  functions,
  parameters = []
}: components['schemas']['ScriptMetadata']): RunField[] {
  const described = parameters.map((parameter) => ({ name: parameter.name, described: parameter }))
  const known = new Set(described.map(({ name }) => name))
  const entry = functions.find(({ name }) => name === entry_point)
  const named = (entry?.parameters ?? []).filter((name) => !name.startsWith('*') && !known.has(name))
  return [...described, ...named.map((name) => ({ name, described: null }))].filter(
    ({ name }) => !others.includes(name)
  )
}

/** The parameters that have a field of their own. */
export const ownNames = (fields: readonly RunField[]): string[] => [...others, ...fields.map(({ name }) => name)]

/** What the form says of a parameter: its meaning, range and default. */
export function helpOf({ described }: RunField): string {
  if (described === null) return 'JSON; anything else is sent as text. Empty: left out.'
  const parts = [described.description, rangeText(described), defaultText(described)]
  return parts.filter((part) => part !== '').join('; ')
}

export function rangeText({ minimum, maximum }: TemplateParameter): string {
  if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `at least ${minimum}`
  return maximum === undefined ? '' : `at most ${maximum}`
}

const defaultText = ({ default: value }: TemplateParameter): string =>
  value === null ? 'left out where empty' : `${JSON.stringify(value)} where empty`

/** Why the parameter cannot have this value, by what its record says of it; `null` where it can. */
export function faultIn({ name, described }: RunField, text: string): string | null {
  if (described === null || text.trim() === '') return null
  const { type, minimum = -Infinity, maximum = Infinity, pattern, min_items = 0 } = described
  const isIn = (number: number) => number >= minimum && number <= maximum
  switch (type) {
    case 'integer':
      return isInteger(text) && isIn(Number(text)) ? null : say(name, 'an integer', described)
    case 'number':
      return isNumber(text) && isIn(Number(text)) ? null : say(name, 'a number', described)
    case 'integers': {
      const items = itemsOf(text)
      const areRight = items.every((item) => isInteger(item) && isIn(Number(item)))
      if (!areRight) return say(name, 'integers with commas between them, each', described)
      return new Set(items.map(Number)).size >= min_items ? null : `${name}: must have ${min_items} different values`
    }
    case 'text':
      return pattern === undefined || new RegExp(pattern, 'u').test(text) ? null : `${name}: must match ${pattern}`
    case 'object':
      return isObject(text) ? null : `${name}: must be a JSON object`
    case 'boolean':
      return null
  }
}

const say = (name: string, what: string, described: TemplateParameter): string =>
  `${name}: must be ${[what, rangeText(described)].filter((part) => part !== '').join(' ')}`

const isInteger = (text: string): boolean => /^\s*[+-]?\d+\s*$/.test(text)
const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text))
const itemsOf = (text: string): string[] =>
  text
    .trim()
    .replace(/^\[|\]$/g, '')
    .split(',')

/** A number that keeps every digit is an object too, hence the look at the text. */
const isObject = (text: string): boolean => /^\s*\{/.test(text) && jsonOr(text, null) !== null

/** Numbers keep every digit. */
function jsonOr<Other>(text: string, other: Other): unknown {
  try {
    return parse(text)
  } catch {
    return other
  }
}

/**
 * The parameters of the submission: what is empty is left out.
 * @param texts by name; a map, since a program can call a parameter `constructor`.
 */
export function paramsOf(fields: readonly RunField[], texts: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = texts.get(field.name) ?? ''
      return text.trim() === '' ? [] : [[field.name, sentValue(field, text)]]
    })
  )
}

function sentValue({ described }: RunField, text: string): unknown {
  switch (described?.type) {
    case 'text':
      return text
    case 'integers':
      return itemsOf(text).map((item) => jsonOr(item.trim(), item))
    default:
      return jsonOr(text.trim(), text)
  }
}

/** How many circuits a run is priced for. */
export function circuitsIn(params: { circuit_count?: unknown }): number {
  const circuits = Number(params.circuit_count)
  return Number.isInteger(circuits) && circuits > 0 ? circuits : 1
}
