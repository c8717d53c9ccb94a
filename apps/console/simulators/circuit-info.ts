// Facts about a circuit and a run, in the shape of the server's results.
import type { Circuit, Operation } from '../circuit/circuit.js'
import { conditionBits } from '../circuit/conditions.js'
import type { CircuitInfo, Metadata } from './simulation.js'

/** A statement's operations, as one. */
interface Instruction {
  name: string
  kind: Operation['kind']
  qubits: readonly number[]
  clbits: readonly number[]
  inside: readonly Operation[]
}

/** What the server calls gates that have another name in the language. */
const serverNames: Record<string, string> = { U: 'u', CX: 'cx', phase: 'p', cphase: 'cp' }

export function circuitInfo(circuit: Circuit): CircuitInfo {
  const instructions = instructionsOf(circuit, circuit.operations)
  const gateCounts = new Map<string, number>()
  for (const { name } of instructions) gateCounts.set(name, (gateCounts.get(name) ?? 0) + 1)
  const acting = instructions.filter(({ kind }) => kind !== 'barrier')
  const { count, isMidCircuit } = measurements(circuit, instructions)
  return {
    num_qubits: circuit.qubits,
    num_clbits: circuit.clbits,
    depth: depthOf(circuit, acting),
    size: acting.length,
    gate_counts: Object.fromEntries(gateCounts),
    two_qubit_gates: acting.filter(({ kind, qubits }) => kind === 'gate' && qubits.length === 2).length,
    num_measurements: count,
    has_mid_circuit_measurement: isMidCircuit,
    diagram: '(no diagram: the page draws the circuit)'
  }
}

export function metadata(
  circuit: Circuit,
  shots: number,
  seed: number,
  engine: string,
  engineVersion: string
): Metadata {
  const sources = sourcesOf(circuit)
  return {
    bit_order: 'qubit 0 leftmost',
    seed,
    engine,
    engine_version: engineVersion,
    framework_version: null,
    optimization_level: null,
    provider_job_id: null,
    calibration_id: null,
    count_source: 'simulator_sampled',
    shots_requested: shots,
    shots_observed: shots,
    registers: circuit.outcome.map(({ name, clbits }) => {
      const qubits = clbits.flatMap((clbit) => sources.get(clbit) ?? [])
      return { name, size: clbits.length, ...(qubits.length === clbits.length && { qubits }) }
    }),
    circuit_sha256: null
  }
}

/** The qubit that each bit shows which exactly one measurement writes, always. */
function sourcesOf(circuit: Circuit): Map<number, number> {
  const sources = new Map<number, number>()
  const unclear = new Set<number>()
  const note = (operations: readonly Operation[], isAlways: boolean): void => {
    for (const operation of operations) {
      if (operation.kind === 'if') note([...operation.then, ...operation.otherwise], false)
      if (operation.kind !== 'measure') continue
      if (!isAlways || sources.has(operation.clbit)) unclear.add(operation.clbit)
      sources.set(operation.clbit, operation.qubit)
    }
  }
  note(circuit.operations, true)
  for (const clbit of unclear) sources.delete(clbit)
  return sources
}

function instructionsOf(circuit: Circuit, operations: readonly Operation[]): Instruction[] {
  const found: Instruction[] = []
  let before: number | null = null
  for (const operation of operations) {
    const call = circuit.calls[operation.call]!
    if (operation.kind === 'gate' && operation.call === before) continue
    before = operation.kind === 'gate' ? operation.call : null
    found.push(instructionOf(operation, call.name, call.qubits))
  }
  return found
}

function instructionOf(operation: Operation, name: string, qubits: readonly number[]): Instruction {
  const { kind } = operation
  switch (kind) {
    case 'gate':
      return { name: serverNames[name] ?? name, kind, qubits, clbits: [], inside: [] }
    case 'measure':
      return { name: kind, kind, qubits: [operation.qubit], clbits: [operation.clbit], inside: [] }
    case 'reset':
      return { name: kind, kind, qubits: [operation.qubit], clbits: [], inside: [] }
    case 'barrier':
      return { name: kind, kind, qubits: operation.qubits, clbits: [], inside: [] }
    case 'if': {
      const inside = [...operation.then, ...operation.otherwise]
      const parts = inside.map((inner) => instructionOf(inner, '', wiresOf(inner)))
      const clbits = [...conditionBits(operation.condition), ...parts.flatMap((part) => part.clbits)]
      return { name: 'if_else', kind, qubits: [...new Set(parts.flatMap((part) => part.qubits))], clbits, inside }
    }
  }
}

const wiresOf = (operation: Operation): readonly number[] =>
  operation.kind === 'gate' ? [...operation.controls.map(({ qubit }) => qubit), ...operation.targets] : []

function depthOf(circuit: Circuit, instructions: readonly Instruction[]): number {
  const qubits = new Float64Array(circuit.qubits)
  const clbits = new Float64Array(circuit.clbits)
  let deepest = 0
  for (const instruction of instructions) {
    let depth = 0
    for (const qubit of instruction.qubits) depth = Math.max(depth, qubits[qubit]!)
    for (const clbit of instruction.clbits) depth = Math.max(depth, clbits[clbit]!)
    for (const qubit of instruction.qubits) qubits[qubit] = depth + 1
    for (const clbit of instruction.clbits) clbits[clbit] = depth + 1
    if (instruction.qubits.length + instruction.clbits.length > 0) deepest = Math.max(deepest, depth + 1)
  }
  return deepest
}

/** How many measurements there are, and whether anything but a barrier follows one on its qubit. */
function measurements(
  circuit: Circuit,
  instructions: readonly Instruction[]
): { count: number; isMidCircuit: boolean } {
  let count = 0
  let isMidCircuit = false
  const measured = new Set<number>()
  for (const { kind, qubits, inside } of instructions) {
    if (kind === 'if') {
      const own = measurements(circuit, instructionsOf(circuit, inside)).count
      count += own
      isMidCircuit ||= own > 0 || measured.size > 0
    } else if (kind !== 'barrier') isMidCircuit ||= qubits.some((qubit) => measured.has(qubit))
    if (kind === 'measure') {
      count++
      measured.add(qubits[0]!)
    }
  }
  return { count, isMidCircuit }
}
