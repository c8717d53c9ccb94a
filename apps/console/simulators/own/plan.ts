// Prepares a circuit for its run: which measurements can be read from the state at the end, and the passes between the
// operations that branch.
import type { Circuit, Condition, Operation } from '../../circuit/circuit.js'
import { conditionBits } from '../../circuit/conditions.js'
import { AMPLITUDE_QUBITS_MAX } from '../limits.js'
import { Fusion } from './fusion.js'
import type { Kernel } from './kernels.js'

export type Step =
  | { kind: 'kernels'; kernels: readonly Kernel[] }
  | { kind: 'measure'; at: number; clbit: number }
  | { kind: 'reset'; at: number }
  | { kind: 'if'; condition: Condition; held: readonly Step[]; otherwise: readonly Step[] }

export interface Plan {
  qubits: number
  steps: readonly Step[]
  /** The qubit that each classical bit shows which is read at the end. */
  atEnd: ReadonlyMap<number, number>
  /** Passes over the state, and points at which it may branch, along the longest way. */
  passes: number
  branchings: number
  /** Whether it has measurements, resets or conditions before the end. */
  hasBranches: boolean
}

export function planOf(circuit: Circuit): Plan {
  const { atEnd, rest } = splitAtEnd(circuit.operations)
  const steps = stepsOf(rest, circuit.qubits, circuit.qubits <= AMPLITUDE_QUBITS_MAX)
  const { passes, branchings } = extent(steps)
  const hasBranches = steps.some(({ kind }) => kind !== 'kernels')
  return { qubits: circuit.qubits, steps, atEnd, passes, branchings, hasBranches }
}

/** Takes out the measurements after which nothing happens to the qubit's value, nor to the bit. */
export function splitAtEnd(operations: readonly Operation[]): { atEnd: Map<number, number>; rest: Operation[] } {
  const atEnd = new Map<number, number>()
  const rest: Operation[] = []
  const changed = new Set<number>()
  const used = new Set<number>()
  for (const operation of operations.toReversed()) {
    if (operation.kind === 'measure' && !changed.has(operation.qubit) && !used.has(operation.clbit)) {
      atEnd.set(operation.clbit, operation.qubit)
      used.add(operation.clbit)
    } else if (operation.kind !== 'barrier') {
      rest.push(operation)
      touch(operation, changed, used)
    }
  }
  return { atEnd, rest: rest.reverse() }
}

function touch(operation: Operation, qubits: Set<number>, clbits: Set<number>): void {
  switch (operation.kind) {
    case 'gate':
      for (const { qubit } of operation.controls) qubits.add(qubit)
      for (const qubit of operation.targets) qubits.add(qubit)
      return
    case 'measure':
      clbits.add(operation.clbit)
      return
    case 'reset':
      qubits.add(operation.qubit)
      return
    case 'if':
      for (const clbit of conditionBits(operation.condition)) clbits.add(clbit)
      for (const inner of [...operation.then, ...operation.otherwise]) touch(inner, qubits, clbits)
  }
}

/** @param showsPhase whether the phase of the whole state is wanted, if there is one state. */
function stepsOf(operations: readonly Operation[], qubits: number, showsPhase = false): Step[] {
  const steps: Step[] = []
  const fusion = new Fusion(qubits)
  const flush = (isEnd = false): void => {
    const kernels = fusion.finish()
    if (isEnd && showsPhase && steps.length === 0) kernels.push(...fusion.takeFactor())
    if (kernels.length > 0) steps.push({ kind: 'kernels', kernels })
  }
  for (const operation of operations) {
    if (operation.kind === 'gate') fusion.add(operation)
    else if (operation.kind !== 'barrier') {
      flush()
      steps.push(branching(operation, qubits))
    }
  }
  flush(true)
  return steps
}

function branching(operation: Exclude<Operation, { kind: 'gate' | 'barrier' }>, qubits: number): Step {
  switch (operation.kind) {
    case 'measure':
      return { kind: 'measure', at: qubits - 1 - operation.qubit, clbit: operation.clbit }
    case 'reset':
      return { kind: 'reset', at: qubits - 1 - operation.qubit }
    case 'if': {
      const [held, otherwise] = [stepsOf(operation.then, qubits), stepsOf(operation.otherwise, qubits)]
      return { kind: 'if', condition: operation.condition, held, otherwise }
    }
  }
}

function extent(steps: readonly Step[]): { passes: number; branchings: number } {
  let [passes, branchings] = [0, 0]
  for (const step of steps) {
    if (step.kind === 'kernels') passes += step.kernels.length
    else if (step.kind === 'if') {
      const both = [extent(step.held), extent(step.otherwise)]
      passes += Math.max(...both.map((one) => one.passes))
      branchings += Math.max(...both.map((one) => one.branchings))
    } else {
      passes += 1
      branchings += 1
    }
  }
  return { passes, branchings }
}
