// What a machine needs to run a capsule again, read from the results in its evidence.
import { jsonFields } from '../domain/json/json-text.js'
import type { PackageFile } from './payload-file.js'

export interface Requirements {
  paradigm: ('gate-based' | 'analog' | 'classical' | 'annealing')[]
  max_qubit_count: number
  gate_set?: string[]
}

interface CircuitInfo {
  num_qubits?: unknown
  gate_counts?: unknown
}

/** In UTF-8. A manifest has at most 256 KiB, and a program chooses the names of its gates. */
const GATES_BYTES_MAX = 64 * 1024

/**
 * The widest circuit and all gates of the results; `classical` if no result has a circuit. The names of the gates are left
 * out if they are too long for a manifest.
 */
export function requirementsOf(files: readonly PackageFile[]): Requirements {
  const paradigms = new Set<Requirements['paradigm'][number]>()
  const gates = new Set<string>()
  let qubits = 0
  for (const { name, content } of files) {
    if (!/^tasks\/[^/]+\/result\.json$/.test(name)) continue
    const { circuit, analog } = circuitOf(content)
    if (!circuit) continue
    paradigms.add(analog ? 'analog' : 'gate-based')
    if (Number.isSafeInteger(circuit.num_qubits)) qubits = Math.max(qubits, circuit.num_qubits as number)
    if (typeof circuit.gate_counts === 'object' && circuit.gate_counts !== null)
      for (const gate of Object.keys(circuit.gate_counts)) if (gate.isWellFormed()) gates.add(gate)
  }
  if (paradigms.size === 0) paradigms.add('classical')
  return {
    paradigm: [...paradigms].sort(),
    max_qubit_count: qubits,
    ...(gates.size > 0 && fits(gates) && { gate_set: [...gates].sort() })
  }
}

const fits = (gates: Set<string>): boolean => Buffer.byteLength(JSON.stringify([...gates])) <= GATES_BYTES_MAX

/** Only the small fields are read: the counts next to them can be millions of bytes. */
function circuitOf(result: Buffer): { circuit: CircuitInfo | null; analog: boolean } {
  try {
    const fields = jsonFields(result.toString('utf8'))
    const circuit = JSON.parse(fields.get('circuit_info') ?? 'null') as CircuitInfo | null
    const metadata = JSON.parse(fields.get('metadata') ?? 'null') as { bit_order?: unknown } | null
    return {
      circuit: typeof circuit === 'object' ? circuit : null,
      analog: metadata?.bit_order === 'site order'
    }
  } catch {
    // A result of another shape does not describe a circuit.
    return { circuit: null, analog: false }
  }
}
