// The targets of Azure Quantum that circuits can be compiled for, by the form of their programs.
import type { CompileFormat } from '../../../domain/backends/quantum-providers.js'
import { ProviderFault } from '../adapter.js'

export interface AzureTarget {
  id: string
  /** Azure's id of the company behind it. */
  provider: string
  compile: CompileFormat
  inputFormat: string
  outputFormat: OutputFormat
  mediaType: string
  /** `null` where neither is known here. */
  qubits: number | null
  shots: { min: number; max: number } | null
}

export type OutputFormat = 'ionq.quantum-results.v1' | 'honeywell.quantum-results.v1' | 'rigetti.quil-results.v1'

const providers: Readonly<Record<string, Omit<AzureTarget, 'id' | 'provider' | 'qubits' | 'shots'>>> = {
  ionq: {
    compile: 'ionq',
    inputFormat: 'ionq.circuit.v1',
    outputFormat: 'ionq.quantum-results.v1',
    mediaType: 'application/json'
  },
  quantinuum: {
    compile: 'qasm2',
    inputFormat: 'honeywell.openqasm.v1',
    outputFormat: 'honeywell.quantum-results.v1',
    mediaType: 'application/qasm'
  },
  rigetti: {
    compile: 'quil',
    inputFormat: 'rigetti.quil.v1',
    outputFormat: 'rigetti.quil-results.v1',
    mediaType: 'text/plain'
  }
}

/** The targets of the catalogue. Azure names a width only for some, and no number of shots. */
const known: Readonly<Record<string, Pick<AzureTarget, 'qubits' | 'shots'>>> = {
  'ionq.simulator': { qubits: 29, shots: { min: 1, max: 10_000 } },
  'quantinuum.qpu.h2-1': { qubits: 56, shots: { min: 1, max: 10_000 } },
  'quantinuum.sim.h2-1sc': { qubits: 56, shots: { min: 1, max: 10_000 } },
  'rigetti.sim.qvm': { qubits: 30, shots: { min: 1, max: 100_000 } }
}

const targetPattern = /^([a-z]{1,40})\.(?:simulator|(?:sim|qpu)\.[a-z0-9][a-z0-9.-]{0,80})$/

/** @throws ProviderFault `refused` for a target that no circuit can be compiled for. */
export function targetOf(id: string): AzureTarget {
  const provider = targetPattern.exec(id)?.[1]
  if (provider === undefined || !Object.hasOwn(providers, provider))
    throw new ProviderFault(
      'refused',
      `${id.slice(0, 100)} is not a target of ${Object.keys(providers).join(', ')}, the providers of Azure Quantum that circuits can be compiled for`
    )
  const { qubits, shots } = Object.hasOwn(known, id) ? known[id]! : { qubits: null, shots: null }
  return { id, provider, ...providers[provider]!, qubits, shots }
}

/** It runs nothing: every outcome is zeros. */
export const isSyntaxChecker = (id: string): boolean => /^quantinuum\.sim\..*sc$/.test(id)

export const isQuantumComputer = (id: string): boolean => id.includes('.qpu.')

/** Nothing is charged for them (Azure's price list, 2026), so no cost is still to come. */
export const isFree = (id: string): boolean =>
  id === 'ionq.simulator' || id.startsWith('rigetti.sim.') || isSyntaxChecker(id)
