// What is said of a run in the browser before it starts: nothing, how long it takes and what it needs, or why it is refused.
import type { Circuit } from '../../circuit/circuit.js'
import { estimateRun } from '../../simulators/estimate.js'
import { SHOTS_MAX } from '../../simulators/limits.js'
import { defaultSimulator, SimulationRefused, type SimulatorName } from '../../simulators/simulation.js'
import { durationText } from '../../text/times.js'

/** As the API states them. */
export interface BrowserLimits {
  warn_from_qubits: number
  qubits_max: number
}

/** A narrow circuit can be long, and a simulator slow. */
const WARN_FROM_SECONDS = 10

export type BeforeRun = { kind: 'free' } | { kind: 'warned' | 'refused'; message: string }

export function beforeRun(circuit: Circuit, simulator: SimulatorName, shots: number, limits: BrowserLimits): BeforeRun {
  const { qubits } = circuit
  if (qubits > limits.qubits_max) {
    const message = `The circuit needs ${qubits} qubits, and this page simulates up to ${limits.qubits_max}. Run it on the server.`
    return { kind: 'refused', message }
  }
  try {
    // The shots are checked when the run starts, at their field.
    const counted = Number.isInteger(shots) && shots > 0 ? Math.min(shots, SHOTS_MAX) : 1
    const { seconds, bytes } = estimateRun(simulator, circuit, counted)
    if (qubits < limits.warn_from_qubits && seconds < WARN_FROM_SECONDS) return { kind: 'free' }
    const needs = `up to ${durationText(1_000 * seconds)} and ${Math.ceil(bytes / 2 ** 20)} MiB of memory`
    const where = simulator === defaultSimulator ? 'here' : `here on ${simulator}`
    return { kind: 'warned', message: `${qubits} qubits: the run takes ${needs} ${where}.` }
  } catch (error) {
    if (!(error instanceof SimulationRefused)) throw error
    return { kind: 'refused', message: error.message }
  }
}
