// The frameworks that a program can be written in, and how one is detected.
import { declaresQubits, withoutLeadingComments } from './circuits/openqasm-text.js'
import type { CircuitFormat } from './source.js'

export const frameworks = ['qiskit', 'cirq', 'pennylane', 'openqasm', 'marqov'] as const
export type Framework = (typeof frameworks)[number]

/** The values of `framework` in records: `ahs` for analog programs, which no framework runs. */
export const recordedFrameworks = [...frameworks, 'ahs'] as const
export type RecordedFramework = (typeof recordedFrameworks)[number]

export const frameworkOfCircuit = ({ format }: { format: CircuitFormat }): RecordedFramework =>
  format === 'ahs' ? 'ahs' : 'openqasm'

/** What a request can name: the frameworks, and `braket`, whose programs run under `marqov`. */
export const frameworkNames = [...frameworks, 'braket'] as const
export type FrameworkName = (typeof frameworkNames)[number]

/** The framework of a name in a request. */
export const frameworkNamed = <Other>(name: FrameworkName | Other): Framework | Exclude<Other, 'braket'> =>
  name === 'braket' ? 'marqov' : (name as Framework | Exclude<Other, 'braket'>)

/**
 * Detects the framework of a text by the OPENQASM header (after comments), by the only framework that it imports, or by its
 * declaration of qubits.
 * `auto` leaves the decision to the executor, which parses the program; `null` means that the text names no framework.
 * Each pattern takes time linear in the length of the code.
 */
export function detectFramework(code: string): Framework | 'auto' | null {
  if (/^OPENQASM\b/.test(withoutLeadingComments(code))) return 'openqasm'
  const imports = code.matchAll(/^[ \t]*(?:from|import)[ \t]+(qiskit|cirq|pennylane|marqov|braket)\b/gm)
  const [first, ...others] = new Set([...imports].map((match) => (match[1] === 'braket' ? 'marqov' : match[1])))
  if (first && others.length === 0) return first as Framework
  if (/\b(?:qiskit|cirq|pennylane|marqov|braket)\b/.test(code)) return 'auto'
  return declaresQubits(code) ? 'openqasm' : null
}
