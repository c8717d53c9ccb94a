// The limits of a form's fields, as the API's document states them.
import { formLimits } from '../../api/schema.js'
import { groupedDigits } from '../../text/exact-numbers.js'

interface Limits {
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

type Operation = keyof typeof formLimits

export const limitsOf = <Name extends Operation>(
  operation: Name,
  field: keyof (typeof formLimits)[Name] & string
): Limits => formLimits[operation][field] as Limits

/** `1 to 100 characters`, `at most 500 characters`, `0 to 1,000`; `''` without a limit. */
export function limitText({ minLength = 0, maxLength, minimum, maximum }: Limits): string {
  if (maxLength !== undefined)
    return minLength > 0 ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`
  if (minimum !== undefined && maximum !== undefined) return `${groupedDigits(minimum)} to ${groupedDigits(maximum)}`
  return ''
}
