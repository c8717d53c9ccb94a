// What the form of a template asks: the manifest of the templates has it, and their tests compare it with their code.

export const parameterTypes = ['integer', 'number', 'boolean', 'text', 'integers', 'object'] as const

export interface TemplateParameter {
  name: string
  /** `integers` is a list of integers, `object` a JSON object. */
  type: (typeof parameterTypes)[number]
  /** What the code uses where the parameter is left out; `null` where it then does without. */
  default: unknown
  /** Of the number, or of each of `integers`. */
  minimum?: number
  maximum?: number
  /** Regular expression that a text matches. */
  pattern?: string
  /** How many different values `integers` has at least. */
  min_items?: number
  description: string
}
