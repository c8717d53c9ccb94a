// What a run takes on each simulator, before it starts.
import type { Circuit } from '../circuit/circuit.js'
import { estimate as own } from './own/estimate.js'
import { estimate as quantumCircuit } from './quantum-circuit/estimate.js'
import { estimate as qulacs } from './qulacs/estimate.js'
import type { RunEstimate, SimulatorName } from './simulation.js'

const estimates: Record<SimulatorName, (circuit: Circuit, shots: number) => RunEstimate> = {
  'statevector-js': own,
  'quantum-circuit': quantumCircuit,
  'qulacs-wasm': qulacs
}

/** Throws SimulationRefused for a run that the simulator does not start. */
export const estimateRun = (simulator: SimulatorName, circuit: Circuit, shots: number): RunEstimate =>
  estimates[simulator](circuit, shots)
