// What a run on Qulacs takes, by what was measured (docs/console/browser-simulators.md).
import type { Circuit } from '../../circuit/circuit.js'
import { gatesOf } from '../at-end.js'
import { SLOWER_MACHINE } from '../limits.js'
import { checkRun, type RunEstimate, SimulationRefused } from '../simulation.js'
import { ENGINE, QULACS_OPERATIONS_MAX, QULACS_QUBITS_MAX, stepsOf } from './gates.js'

/** Seconds, as measured. */
const LOADING = 0.05
const STEP = 5e-5
const AMPLITUDE_TURNED = 4e-9
const AMPLITUDE_MOVED = 5e-10
/** Each number of the state crosses from the compiled code on its own. */
const AMPLITUDE_READ = 6e-7

/** Of the compiled code, whatever it holds. */
const ITS_MEMORY = 16 * 1024 * 1024

/** An upper bound of time and memory. Throws SimulationRefused for a run that is not started. */
export function estimate(circuit: Circuit, shots: number): RunEstimate {
  checkRun(circuit, shots)
  const { qubits } = circuit
  if (qubits > QULACS_QUBITS_MAX) {
    throw new SimulationRefused(
      `circuit needs ${qubits} qubits, qulacs-wasm has memory for ${QULACS_QUBITS_MAX}; use the default simulator`
    )
  }
  const size = 2 ** qubits
  let [seconds, steps] = [LOADING + size * AMPLITUDE_READ, 0]
  for (const gate of gatesOf(circuit, ENGINE).gates) {
    for (const [name] of stepsOf(gate)) {
      steps += 1
      seconds += STEP + size * (String(name).startsWith('r') ? AMPLITUDE_TURNED : AMPLITUDE_MOVED)
    }
    if (steps > QULACS_OPERATIONS_MAX) {
      throw new SimulationRefused(
        `the circuit has more than ${QULACS_OPERATIONS_MAX} gates of qulacs-wasm, which takes no more at once; use the ` +
          'default simulator'
      )
    }
  }
  return { seconds: SLOWER_MACHINE * seconds, bytes: ITS_MEMORY + size * (16 + 8) }
}
