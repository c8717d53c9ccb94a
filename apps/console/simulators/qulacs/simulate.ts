// Qulacs, compiled to WebAssembly by its package `qulacs-wasm-simulator-client`. Any gate that it does not know is a
// memory fault, so circuits are written out in its few gates.
import type { QulacsModule } from 'qulacs-wasm-simulator-client/lib/wasm/module.js'
import type { Circuit } from '../../circuit/circuit.js'
import { gatesOf, resultOf, reversed } from '../at-end.js'
import { type OnProgress, type Simulation, SimulationRefused } from '../simulation.js'
import { estimate } from './estimate.js'
import { ENGINE, ENGINE_VERSION, type Step, stepsOf } from './gates.js'

export type LoadQulacs = () => Promise<QulacsModule>

/** A simulation by Qulacs as `load` gets it. Where that fails, the run is refused with the reason. */
export function simulateWith(load: LoadQulacs) {
  return async (circuit: Circuit, shots: number, seed: number, onProgress: OnProgress): Promise<Simulation> => {
    const began = performance.now()
    // Refuses what it has no memory or no time for.
    estimate(circuit, shots)
    const { gates, atEnd } = gatesOf(circuit, ENGINE)
    const steps = gates.flatMap(stepsOf)
    const module = await loaded(load)
    onProgress(0)
    const state = stateOf(module, steps, circuit.qubits)
    onProgress(1)
    return resultOf(circuit, state, atEnd, {
      shots,
      seed,
      engine: ENGINE,
      version: ENGINE_VERSION,
      began,
      hasPhase: false
    })
  }
}

async function loaded(load: LoadQulacs): Promise<QulacsModule> {
  try {
    return await load()
  } catch (error) {
    throw new SimulationRefused(`qulacs-wasm cannot be loaded here: ${String((error as Error)?.message ?? error)}`)
  }
}

function stateOf(module: QulacsModule, steps: readonly Step[], qubits: number) {
  const request = {
    // A column holds one step; the first is empty so that there is one.
    circuitInfo: { circuit: [[['i', 0]], ...steps.map((step) => [step])] as Step[][], size: qubits },
    observableInfo: { observable: [{ operators: Array.from({ length: qubits }, () => 'i'), coefficient: 1 }] }
  }
  const { stateVector } = answered(module, request)
  const size = 2 ** qubits
  if (stateVector.size() !== 2 * size) throw new Error(`qulacs-wasm returned ${stateVector.size()} numbers`)
  const state = { re: new Float64Array(size), im: new Float64Array(size) }
  for (let index = 0; index < size; index++) {
    const place = reversed(index, qubits)
    state.re[place] = stateVector.get(2 * index)
    state.im[place] = stateVector.get(2 * index + 1)
  }
  stateVector.delete()
  return state
}

function answered(module: QulacsModule, request: Parameters<QulacsModule['getStateVectorWithExpectationValue']>[0]) {
  try {
    return module.getStateVectorWithExpectationValue(request)
  } catch (error) {
    // An exception of the compiled code is a pointer to it.
    throw typeof error === 'number' ? new Error(module.getExceptionMessage(error)) : error
  }
}
