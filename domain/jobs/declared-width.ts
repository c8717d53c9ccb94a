// The number of qubits that an OpenQASM source declares, or of sites that an analog program has, as far as a look at its
// text shows it. What it does not show, the executor finds out.
import { type ServiceError, validationError } from '../errors.js'
import { sitesOf } from './circuits/analog-program.js'
import { declaredSizes } from './circuits/openqasm-text.js'
import type { JobParams } from './params/params.js'
import { nameOfRun, POINT_STATE_VECTOR_QUBITS_MAX, paramsOfRuns } from './params/points.js'
import { type ProgramKind, payloadsOf, programKindOf } from './source.js'
import type { JobSource } from './submission.js'

/** The widest state vector that the service returns. */
export const STATE_VECTOR_QUBITS_MAX = 20

/** @returns `null` when a size is not a plain number, or nothing is declared. */
export function declaredQubits(openqasm: string): number | null {
  const sizes = declaredSizes(openqasm)
  if (sizes.length === 0 || !sizes.every((size) => /^\d{1,9}$/.test(size))) return null
  return sizes.reduce((sum, size) => sum + Number(size), 0)
}

/** The number of qubits or sites of a source, if its text shows it; of many circuits, that of the widest. */
export function widthOfSource(source: JobSource): number | null {
  if (programKindOf(source) === 'analog') return sitesOf(source.text)
  if (source.kind === 'circuits') return widestOf(payloadsOf(source.text).map(declaredQubits))
  const isOpenqasm = source.kind === 'circuit' || source.framework === 'openqasm'
  return isOpenqasm ? declaredQubits(source.text) : null
}

/** Of those that are known. */
const widestOf = (widths: readonly (number | null)[]): number | null =>
  widths.reduce((widest, width) => (width === null ? widest : Math.max(widest ?? 0, width)), null)

interface Width {
  slug: string
  maxQubits: number | null
}

export const isTooWide = (qubits: number, { maxQubits }: Width): boolean => maxQubits !== null && qubits > maxQubits

/** @param all the backends that can be named instead. */
export function tooWide(
  qubits: number,
  backend: Width,
  all: readonly (Width & { status: string; engine: string | null })[],
  program: ProgramKind = 'circuit'
): ServiceError {
  if (program === 'analog')
    return validationError(
      `backend: the analog program has ${qubits} sites, ${backend.slug} takes at most ${backend.maxQubits}`
    )
  const [fitting] = all
    .filter(({ status, engine, maxQubits }) => status === 'online' && engine !== null && (maxQubits ?? 0) >= qubits)
    .sort((one, other) => one.maxQubits! - other.maxQubits!)
  const instead = fitting ? `${fitting.slug} takes ${fitting.maxQubits}` : 'no simulator of this service takes as many'
  return validationError(
    `backend: the circuit has ${qubits} qubits, ${backend.slug} takes at most ${backend.maxQubits}; ${instead}`
  )
}

/** @param all as for `tooWide`. @throws ServiceError `validation_error`. */
export function assertNotTooWide(
  qubits: number,
  backend: Width,
  all: Parameters<typeof tooWide>[2],
  program: ProgramKind
): void {
  if (isTooWide(qubits, backend)) throw tooWide(qubits, backend, all, program)
}

/** @throws ServiceError `validation_error` for a state vector that no backend returns. */
export function assertStateVectorFits(
  qubits: number,
  params: Pick<Partial<JobParams>, 'points' | 'extract_state_vector'>
): void {
  const most = params.points ? POINT_STATE_VECTOR_QUBITS_MAX : STATE_VECTOR_QUBITS_MAX
  const asking = paramsOfRuns(params).findIndex((run) => run.extract_state_vector)
  if (asking >= 0 && qubits > most)
    throw validationError(
      `${nameOfRun(params, asking)}.extract_state_vector: ${params.points ? 'in a sweep, ' : ''}a state vector has at most ${most} qubits (the circuit has ${qubits})`
    )
}
