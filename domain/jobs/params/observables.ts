// Validates `params.observables` before anything is recorded: sums of products of Pauli matrices, such as `XI + 0.5*ZZ`, with one
// letter for each qubit and qubit 0 leftmost. apps/executor/qjs_executor/pauli_sums.py has the same grammar.
import { Type } from 'typebox'
import { validationError } from '../../errors.js'
import { oneOf } from '../../json/one-of.js'

export const OBSERVABLES_MAX = 100
const TEXT_MAX = 10_000
/** Of all observables of a job together: each term can need a circuit of its own. */
export const OBSERVABLE_TERMS_MAX = 1_000
/** The widest circuit that any backend takes. */
const LETTERS_MAX = 256
const SHOWN_MAX = 60

export const observablesMethods = ['exact', 'sampled'] as const

/** The parameters of a job that ask for expectation values. */
export const observableParams = {
  observables: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: TEXT_MAX }), {
      minItems: 1,
      maxItems: OBSERVABLES_MAX,
      description: 'Sums of products of Pauli matrices, one letter for each qubit, qubit 0 leftmost.',
      examples: [['ZZ', 'XI + 0.5*ZZ']]
    })
  ),
  observables_method: Type.Optional(
    oneOf(observablesMethods, 'Without it, values are exact where the backend has the state of the circuit.')
  )
}

const SIGN = /[+-][ \t]*/y
const COEFFICIENT = /((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*\*[ \t]*/y
const WORD = /[IXYZ]+/y
const SPACE = /[ \t]*/y

/**
 * Refuses an observable that cannot be read.
 * @throws ServiceError `validation_error` naming the observable and the character.
 */
export function assertObservables(texts: readonly string[]): void {
  const terms = texts.reduce((sum, text, at) => sum + productsOf(text, `params.observables[${at}]`).length, 0)
  if (terms > OBSERVABLE_TERMS_MAX)
    throw validationError(
      `params.observables: must have at most ${OBSERVABLE_TERMS_MAX} terms together (got ${terms.toLocaleString('en')})`
    )
}

/** The different products in an observable. @throws ServiceError `validation_error` for one that cannot be read. */
export function productsOf(text: string, where: string): string[] {
  const coefficients = new Map<string, number>()
  let place = 0
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = place
    const found = token.exec(text)
    if (found) place = token.lastIndex
    return found
  }
  take(SPACE)
  do {
    const sign = take(SIGN)
    const isJoined = sign !== null || coefficients.size === 0
    const size = isJoined && take(COEFFICIENT)
    const word = isJoined && take(WORD)?.[0]
    if (!word)
      throw validationError(
        `${where}: cannot be read at character ${place + 1}: write terms such as ZZ, -XI or 0.5*ZZ, joined by + or - (got ${shown(text)})`
      )
    const [first] = coefficients.keys()
    if (first !== undefined && first.length !== word.length)
      throw validationError(`${where}: every term must have one letter for each qubit (got ${shown(text)})`)
    if (word.length > LETTERS_MAX)
      throw validationError(`${where}: a term has at most ${LETTERS_MAX} letters (got ${word.length})`)
    const value = Number(size ? size[1] : 1) * (sign?.[0].startsWith('-') ? -1 : 1)
    coefficients.set(word, (coefficients.get(word) ?? 0) + value)
    take(SPACE)
  } while (place < text.length)
  if (![...coefficients.values()].every(Number.isFinite))
    throw validationError(`${where}: has a coefficient that is too large (got ${shown(text)})`)
  return [...coefficients.keys()]
}

const shown = (text: string): string =>
  JSON.stringify(text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}...`)
