import { type Static, type TSchema, Type } from 'typebox'

/**
 * A body of one of two kinds: only one of them has the field `field`. The validator decides the kind first, so that a
 * refusal names fields of that kind. The OpenAPI document has it as `oneOf` (apps/api/openapi/named-schemas.ts), which accepts the same bodies.
 */
export const eitherBody = <With extends TSchema, Without extends TSchema>(field: string, one: With, other: Without) =>
  Type.Unsafe<Static<With> | Static<Without>>({
    type: 'object',
    if: { properties: { [field]: {} }, required: [field] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits this object.
    then: one,
    else: other
  })
