// The simulator of the browser: a state vector in typed arrays.
import { randomOf } from '../../../../domain/verification/statistics/random.js'
import type { Circuit } from '../../circuit/circuit.js'
import { circuitInfo, metadata } from '../circuit-info.js'
import { AMPLITUDE_QUBITS_MAX } from '../limits.js'
import { checkRun, type OnProgress, type Simulation } from '../simulation.js'
import { followBranches } from './branches.js'
import { estimateOf } from './estimate.js'
import type { State } from './kernels.js'
import { Outcomes } from './outcomes.js'
import { planOf } from './plan.js'

export const ENGINE = 'statevector-js'
export const ENGINE_VERSION = '1'

export async function simulate(
  circuit: Circuit,
  shots: number,
  seed: number,
  onProgress: OnProgress
): Promise<Simulation> {
  const began = performance.now()
  checkRun(circuit, shots)
  const plan = planOf(circuit)
  const { isExact } = estimateOf(plan, shots)
  const random = randomOf(String(seed))
  const outcomes = new Outcomes(circuit, plan.atEnd, random, isExact)
  const amplitudes: [number, number][] = []
  followBranches(
    plan,
    circuit.clbits,
    shots,
    isExact,
    random,
    (leaf) => {
      if (!plan.hasBranches && circuit.qubits <= AMPLITUDE_QUBITS_MAX) amplitudes.push(...pairs(leaf.state))
      outcomes.add(leaf)
    },
    onProgress
  )
  const { counts, probabilities } = outcomes.result()
  return {
    counts,
    ...(probabilities && { probabilities }),
    ...(amplitudes.length > 0 && { amplitudes }),
    circuit_info: circuitInfo(circuit),
    metadata: metadata(circuit, shots, seed, ENGINE, ENGINE_VERSION),
    ms: performance.now() - began
  }
}

const pairs = ({ re, im }: State): [number, number][] => Array.from(re, (value, index) => [value, im[index]!])
