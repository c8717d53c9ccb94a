// What every simulator of the browser is asked, and what it answers: the shape of the server's result.
import type { Circuit } from '../circuit/circuit.js'
import { QUBITS_MAX, SHOTS_MAX } from './limits.js'

export interface CircuitInfo {
  num_qubits: number
  num_clbits: number
  depth: number
  size: number
  gate_counts: Record<string, number>
  two_qubit_gates: number
  num_measurements: number
  has_mid_circuit_measurement: boolean
  diagram: string
}

export interface Metadata {
  bit_order: 'qubit 0 leftmost'
  seed: number
  engine: string
  engine_version: string
  framework_version: null
  optimization_level: null
  provider_job_id: null
  calibration_id: null
  count_source: 'simulator_sampled'
  shots_requested: number
  shots_observed: number
  registers: { name: string; size: number; qubits?: number[] }[]
  circuit_sha256: null
}

export interface Simulation {
  /** Outcome to count, qubit 0 leftmost, as the server writes it. */
  counts: Record<string, number>
  /** Exact, for each possible outcome; left out where there are too many, or where they are not known. */
  probabilities?: Record<string, number>
  /** The state before the measurements at the end, by the index whose highest bit is qubit 0. */
  amplitudes?: [re: number, im: number][]
  circuit_info: CircuitInfo
  metadata: Metadata
  ms: number
}

/** From 0 to 1. */
export type OnProgress = (share: number) => void

export type Simulate = (circuit: Circuit, shots: number, seed: number, onProgress: OnProgress) => Promise<Simulation>

export const simulatorNames = ['statevector-js', 'quantum-circuit', 'qulacs-wasm'] as const
export const defaultSimulator = 'statevector-js'
export type SimulatorName = (typeof simulatorNames)[number]

/** What a run takes at most, on a slow machine. */
export interface RunEstimate {
  seconds: number
  bytes: number
}

/** A run that a simulator cannot do, or not exactly; the message says what and why. */
export class SimulationRefused extends Error {}

/** The checks that no simulator leaves out. */
export function checkRun(circuit: Circuit, shots: number): void {
  if (circuit.qubits > QUBITS_MAX) {
    throw new SimulationRefused(
      `circuit needs ${circuit.qubits} qubits, the browser has ${QUBITS_MAX}; run it on the server`
    )
  }
  if (!Number.isInteger(shots) || shots < 1 || shots > SHOTS_MAX) {
    throw new SimulationRefused(`shots: must be between 1 and ${SHOTS_MAX} (got ${shots})`)
  }
}
