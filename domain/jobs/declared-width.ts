// The number of qubits that an OpenQASM source declares, as far as a look at its text shows it. What it does not show, the
// executor finds out.
import { type ServiceError, validationError } from '../errors.js'
import { declaredSizes } from './openqasm-text.js'
import type { ParsedParams } from './params/params.js'
import type { JobSource } from './submission.js'

/** The widest state vector that the service returns. */
export const STATE_VECTOR_QUBITS_MAX = 20

/** @returns `null` when a size is not a plain number, or nothing is declared. */
export function declaredQubits(openqasm: string): number | null {
  const sizes = declaredSizes(openqasm)
  if (sizes.length === 0 || !sizes.every((size) => /^\d{1,9}$/.test(size))) return null
  return sizes.reduce((sum, size) => sum + Number(size), 0)
}

/** The number of qubits of a source, if its text shows it. */
export const widthOfSource = ({ kind, text, ...source }: JobSource): number | null =>
  kind === 'circuit' || ('framework' in source && source.framework === 'openqasm') ? declaredQubits(text) : null

interface Width {
  slug: string
  maxQubits: number | null
}

export const isTooWide = (qubits: number, { maxQubits }: Width): boolean => maxQubits !== null && qubits > maxQubits

/** @param all the backends that can be named instead. */
export function tooWide(
  qubits: number,
  backend: Width,
  all: readonly (Width & { status: string; engine: string | null })[]
): ServiceError {
  const [fitting] = all
    .filter(({ status, engine, maxQubits }) => status === 'online' && engine !== null && (maxQubits ?? 0) >= qubits)
    .sort((one, other) => one.maxQubits! - other.maxQubits!)
  const instead = fitting ? `${fitting.slug} takes ${fitting.maxQubits}` : 'no simulator of this service takes as many'
  return validationError(
    `backend: the circuit has ${qubits} qubits, ${backend.slug} takes at most ${backend.maxQubits}; ${instead}`
  )
}

/** @throws ServiceError `validation_error` for a state vector that no backend returns. */
export function assertStateVectorFits(qubits: number, { value }: ParsedParams): void {
  if (value.extract_state_vector && qubits > STATE_VECTOR_QUBITS_MAX)
    throw validationError(
      `params.extract_state_vector: a state vector has at most ${STATE_VECTOR_QUBITS_MAX} qubits (the circuit has ${qubits})`
    )
}
