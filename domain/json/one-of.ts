// The typed schema of a field that takes one of a fixed list of words.
import { type TUnsafe, Type } from 'typebox'

export const oneOf = <const T extends string>(values: readonly T[], description?: string): TUnsafe<T> =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description && { description }) })
