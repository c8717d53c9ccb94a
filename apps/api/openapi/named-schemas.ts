// The schemas of the OpenAPI document under names of their own, so that a generated client has one class for each. A schema is
// named by its `$id`, or else by its place: the operation, then the fields that lead to it.
import { isDeepStrictEqual } from 'node:util'

type Schema = Record<string, unknown>

export class NamedSchemas {
  readonly components: Record<string, object> = {}

  /**
   * A reference to the component of an object, or a copy of any other schema with such references in it.
   * @param name of an object without `$id`.
   * @throws Error for two different schemas of one name, and for a choice between objects without `$id`.
   */
  written(schema: unknown, name: string): unknown {
    if (!isSchema(schema)) return schema
    if (schema.if !== undefined) return this.#either(schema, name)
    const { $id, ...keywords } = schema
    const own = typeof $id === 'string' ? $id : name
    const copy = Object.fromEntries(
      Object.entries(keywords).map(([keyword, value]) => [keyword, this.#keyword(keyword, value, own)])
    )
    if ($id === undefined && !isNamedByPlace(schema)) return copy
    const known = this.components[own]
    if (known && !isDeepStrictEqual(known, copy)) throw new Error(`two schemas of the document are called ${own}`)
    this.components[own] = copy
    return { $ref: `#/components/schemas/${own}` }
  }

  #keyword(keyword: string, value: unknown, name: string): unknown {
    switch (keyword) {
      case 'properties':
        return mapped(value as Schema, (field, schema) => this.written(schema, name + pascal(field)))
      case 'patternProperties':
        return mapped(value as Schema, (_pattern, schema) => this.written(schema, `${name}Value`))
      case 'additionalProperties':
        return this.written(value, `${name}Value`)
      case 'items':
        return this.written(value, name.replace(/s$/, ''))
      case 'anyOf':
      case 'oneOf': {
        const variants = value as unknown[]
        if (variants.filter((variant) => isSchema(variant) && isNamedByPlace(variant)).length > 1)
          throw new Error(`${name}: each object of a choice needs an $id`)
        return variants.map((variant) => this.written(variant, name))
      }
      default:
        return value
    }
  }

  /** The validator reads `if`, so that a refusal names fields of the right kind; generators understand only `oneOf`. */
  #either({ if: condition, then: one, else: other }: Schema, name: string): object {
    const { required } = condition as { required: string[] }
    return { oneOf: [this.written(one, name), this.written({ ...(other as Schema), not: { required } }, name)] }
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNamedByPlace = ({ $id, type, properties }: Schema): boolean =>
  $id === undefined && type === 'object' && isSchema(properties) && Object.keys(properties).length > 0

const mapped = (map: Schema, change: (key: string, value: unknown) => unknown): Schema =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(key, value)]))

/** `provider_jobs` -> `ProviderJobs`, `listJobs` -> `ListJobs` */
export const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_whole, first: string) => first.toUpperCase())
