// What the simulators share that run gates alone: circuits whose measurements all stand at their end.
import { randomOf } from '../../../domain/verification/statistics/random.js'
import type { Circuit, GateOperation } from '../circuit/circuit.js'
import { circuitInfo, metadata } from './circuit-info.js'
import { AMPLITUDE_QUBITS_MAX } from './limits.js'
import type { State } from './own/kernels.js'
import { Outcomes } from './own/outcomes.js'
import { splitAtEnd } from './own/plan.js'
import { type Simulation, SimulationRefused } from './simulation.js'

export interface GatesOnly {
  gates: readonly GateOperation[]
  atEnd: ReadonlyMap<number, number>
}

/** The gates of a circuit, and the measurements at its end. Throws SimulationRefused, by name, for all others. */
export function gatesOf(circuit: Circuit, simulator: string): GatesOnly {
  const { atEnd, rest } = splitAtEnd(circuit.operations)
  const gates = rest.map((operation) => {
    if (operation.kind === 'gate') return operation
    const { line } = circuit.calls[operation.call]!
    const what = { measure: 'a measurement before the end', reset: 'reset', if: 'if', barrier: 'barrier' }[
      operation.kind
    ]
    throw new SimulationRefused(
      `line ${line}: ${simulator} runs gates alone here, not ${what}; use the default simulator`
    )
  })
  return { gates, atEnd }
}

/** The result of a state: the samples are drawn here, by the seed, so that each run can be repeated. */
export function resultOf(
  circuit: Circuit,
  state: State,
  atEnd: ReadonlyMap<number, number>,
  run: { shots: number; seed: number; engine: string; version: string; began: number; hasPhase: boolean }
): Simulation {
  const outcomes = new Outcomes(circuit, atEnd, randomOf(String(run.seed)))
  outcomes.add({ state, bits: new Uint8Array(circuit.clbits), probability: 1, shots: run.shots })
  const { counts, probabilities } = outcomes.result()
  const showsState = run.hasPhase && circuit.qubits <= AMPLITUDE_QUBITS_MAX
  return {
    counts,
    ...(probabilities && { probabilities }),
    ...(showsState && { amplitudes: Array.from(state.re, (re, index): [number, number] => [re, state.im[index]!]) }),
    circuit_info: circuitInfo(circuit),
    metadata: metadata(circuit, run.shots, run.seed, run.engine, run.version),
    ms: performance.now() - run.began
  }
}

/** An index whose lowest bit is qubit 0, as one whose highest bit is. */
export function reversed(index: number, qubits: number): number {
  let turned = 0
  for (let qubit = 0; qubit < qubits; qubit++) if ((index >> qubit) & 1) turned |= 1 << (qubits - 1 - qubit)
  return turned
}
