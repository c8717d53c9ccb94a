// What is said of a run in the browser before it starts: nothing, how long it takes and what it needs, or why it is refused.
import type { Circuit } from '../../circuit/circuit.js'
import { estimate } from '../../simulators/own/estimate.js'
import { SimulationRefused, type SimulatorName } from '../../simulators/simulation.js'
import { durationText } from '../../text/times.js'

/** As the API states them. */
export interface BrowserLimits {
  warn_from_qubits: number
  qubits_max: number
}

export type BeforeRun = { kind: 'free' } | { kind: 'warned' | 'refused'; message: string }

export function beforeRun(circuit: Circuit, simulator: SimulatorName, shots: number, limits: BrowserLimits): BeforeRun {
  const { qubits } = circuit
  if (qubits > limits.qubits_max) {
    const message = `The circuit needs ${qubits} qubits, and this page simulates up to ${limits.qubits_max}. Run it on the server.`
    return { kind: 'refused', message }
  }
  try {
    // The shots are checked when the run starts, at their field.
    const { seconds, bytes } = estimate(circuit, Number.isInteger(shots) && shots > 0 ? Math.min(shots, 100_000) : 1)
    if (qubits < limits.warn_from_qubits) return { kind: 'free' }
    const needs = `up to ${durationText(1_000 * seconds)} and ${Math.ceil(bytes / 2 ** 20)} MiB of memory`
    const message =
      simulator === 'statevector-js'
        ? `${qubits} qubits: the run takes ${needs} here.`
        : `${qubits} qubits: the default simulator takes ${needs} here, and ${simulator} takes longer.`
    return { kind: 'warned', message }
  } catch (error) {
    if (!(error instanceof SimulationRefused)) throw error
    // Of the default simulator alone: the others refuse by their own bounds, when they start.
    return simulator === 'statevector-js' ? { kind: 'refused', message: error.message } : { kind: 'free' }
  }
}
