// Finds every wrong field of a refused value, one fault for each. The validator itself stops at the first: with all errors, one
// list of wrong items would give millions, and a choice would give those of each variant.
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'

/** How many faults are described; the others are counted. */
const FAULTS_MAX = 10

type Schema = Record<string, unknown>

/** The part of the validator's error that a message is written from (validation-message.ts). */
export type Fault = Pick<ErrorObject, 'instancePath' | 'schemaPath' | 'keyword' | 'params' | 'message' | 'data'> & {
  parentSchema?: Record<string, unknown>
}

/** Not a keyword of JSON Schema: the last fault of a list, which counts those left out. */
export const MORE = 'more'

/** Lists what is wrong with a value that the schema refused; `first` is the error at which the validator stopped. */
export type FaultFinder = (schema: object, value: unknown, first: Fault[]) => Fault[]

/** @param ajv compiles parts of schemas, so its strict mode must be off: some of its rules are about whole schemas. */
export function createFaultFinder(ajv: Ajv): FaultFinder {
  const validators = new WeakMap<object, ValidateFunction>()
  return (schema, value, first) => faultsOf(validatorOf, schema, value, first)

  function validatorOf(part: object): ValidateFunction {
    const known = validators.get(part)
    if (known) return known
    // Two schemas cannot be compiled under one `$id`, but can both contain it.
    const made = ajv.compile({ allOf: [part] })
    validators.set(part, made)
    return made
  }
}

function faultsOf(
  validatorOf: (part: object) => ValidateFunction,
  schema: object,
  value: unknown,
  first: Fault[]
): Fault[] {
  const faults: Fault[] = []
  let count = 0
  visit(schema as Schema, value, '')
  if (count === 0) return first.slice(0, 1)
  return count > FAULTS_MAX ? [...faults, more(count)] : faults

  function add(fault: () => Fault): void {
    if (count++ < FAULTS_MAX) faults.push(fault())
  }

  function visit(part: Schema, data: unknown, path: string): void {
    if (part.if !== undefined) {
      visit((validatorOf(part.if as object)(data) ? part.then : part.else) as Schema, data, path)
      return
    }
    const variant = variantOf(part, data)
    if (variant !== null) {
      if (!validatorOf(part)(data)) visit(variant, data, path)
      return
    }
    const before = count
    if (isObject(part.properties) && isObject(data)) visitFields(part, data, path)
    // Rules about the whole value, such as the number of its fields.
    if (count > before) return
    const validate = validatorOf(part)
    if (validate(data)) return
    const [error] = validate.errors as Fault[]
    add(() => ({ ...error!, instancePath: path + error!.instancePath }))
  }

  function visitFields(part: Schema, data: Schema, path: string): void {
    const properties = part.properties as Record<string, Schema>
    for (const name of (part.required ?? []) as string[])
      if (data[name] === undefined && properties[name]?.default === undefined)
        add(() => ({ instancePath: path, schemaPath: '', keyword: 'required', params: { missingProperty: name } }))
    for (const [name, schema] of Object.entries(properties))
      if (Object.hasOwn(data, name)) visit(schema, data[name], `${path}/${escaped(name)}`)
    if (part.additionalProperties !== false) return
    for (const name of Object.keys(data)) if (!Object.hasOwn(properties, name)) add(() => unknownField(path, name))
  }
}

/** A fault for each field of a body that can have none. */
export function faultsOfUnknown(names: string[]): Fault[] {
  const faults = names.slice(0, FAULTS_MAX).map((name) => unknownField('', name))
  return names.length > FAULTS_MAX ? [...faults, more(names.length)] : faults
}

const unknownField = (instancePath: string, name: string): Fault => ({
  instancePath,
  schemaPath: '',
  keyword: 'additionalProperties',
  params: { additionalProperty: name }
})

const more = (count: number): Fault => ({
  instancePath: '',
  schemaPath: '',
  keyword: MORE,
  params: { count: count - FAULTS_MAX }
})

/** The only variant of a choice that is of the value's type: its faults are those that the sender means. */
function variantOf({ anyOf }: Schema, data: unknown): Schema | null {
  if (!Array.isArray(anyOf)) return null
  const type = data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data
  const variants = (anyOf as Schema[]).filter((variant) => variant.type === type)
  return variants.length === 1 ? variants[0]! : null
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
