// The limits of a form's fields, as the API's document states them.
import { formLimits } from '../../api/schema.js'
import { groupedDigits } from '../../text/exact-numbers.js'

export interface Limits {
  minLength?: number
  maxLength?: number
  exclusiveMinimum?: number
  minimum?: number
  maximum?: number
  maxItems?: number
}

type Operation = keyof typeof formLimits

export const limitsOf = <Name extends Operation>(
  operation: Name,
  field: keyof (typeof formLimits)[Name] & string
): Limits => formLimits[operation][field] as Limits

/** @returns the limits as words; `''` without a limit. */
export function limitText(limits: Limits): string {
  const { minLength = 0, maxLength, exclusiveMinimum, minimum, maximum, maxItems } = limits
  if (maxItems !== undefined) return `at most ${groupedDigits(maxItems)}`
  if (maxLength !== undefined)
    return `${minLength > 0 ? `${minLength} to` : 'at most'} ${groupedDigits(maxLength)} characters`
  if (maximum === undefined) return ''
  if (exclusiveMinimum !== undefined)
    return `above ${groupedDigits(exclusiveMinimum)}, at most ${groupedDigits(maximum)}`
  return minimum === undefined
    ? `at most ${groupedDigits(maximum)}`
    : `${groupedDigits(minimum)} to ${groupedDigits(maximum)}`
}

/** Of a list in one field. */
export const listText = (list: Limits, item: Limits): string => `${limitText(list)}, each of ${limitText(item)}`
