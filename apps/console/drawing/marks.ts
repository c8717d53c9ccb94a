// What a circuit's drawing consists of before anything has its place: a mark for each statement of the program, as its
// author wrote it, though a gate of the program's own can be thousands of operations.
import type { Call, Circuit, Control, GateOperation, Operation } from '../circuit/circuit.js'
import { angleText, exactAngleText } from './angle-text.js'
import { conditionBits, conditionText } from './condition-text.js'
import type { ClassicalWire } from './wires.js'

interface MarkOfCall {
  /** Index into the circuit's calls. */
  call: number
  /** In full, with its place in the program. */
  title: string
}

export interface GateMark extends MarkOfCall {
  kind: 'gate'
  /** A box with a label; or the usual sign of a controlled x, a controlled z or a swap. */
  sign: 'box' | 'x' | 'z' | 'swap'
  label: string
  targets: readonly number[]
  controls: readonly Control[]
}

export interface MeasureMark extends MarkOfCall {
  kind: 'measure'
  qubit: number
  clbit: number
}

export interface ResetMark extends MarkOfCall {
  kind: 'reset'
  qubit: number
}

export interface BarrierMark extends MarkOfCall {
  kind: 'barrier'
  qubits: readonly number[]
}

export interface FrameMark extends MarkOfCall {
  kind: 'if'
  label: string
  clbits: readonly number[]
  body: readonly Mark[]
  /** Empty where there is no `else`. */
  otherwise: readonly Mark[]
}

export type Mark = GateMark | MeasureMark | ResetMark | BarrierMark | FrameMark

export function marksOf(circuit: Circuit, wires: readonly ClassicalWire[]): Mark[] {
  const context: Context = { circuit, wires, nextCall: 0 }
  return [...marksOfList(circuit.operations, context), ...marksWithoutEffect(circuit.calls.length, context)]
}

interface Context {
  circuit: Circuit
  wires: readonly ClassicalWire[]
  /** The calls before this one have their marks. */
  nextCall: number
}

function marksOfList(operations: readonly Operation[], context: Context): Mark[] {
  const marks: Mark[] = []
  for (let at = 0; at < operations.length; ) {
    const operation = operations[at]!
    for (const mark of marksWithoutEffect(operation.call, context)) marks.push(mark)
    context.nextCall = Math.max(context.nextCall, operation.call + 1)
    if (operation.kind !== 'gate') {
      marks.push(markOf(operation, context))
      at += 1
      continue
    }
    const end = endOfCall(operations, at)
    // A barrier within a gate's own definition is not a statement of the program.
    const gates = operations.slice(at, end).filter((one) => one.kind === 'gate')
    marks.push(gateMark(operation.call, gates, context))
    at = end
  }
  return marks
}

/**
 * The marks of gates whose definition is empty, so that no operation tells of them. They stand before the next statement
 * that has one.
 */
function marksWithoutEffect(before: number, context: Context): GateMark[] {
  const marks: GateMark[] = []
  for (; context.nextCall < before; context.nextCall++)
    if (context.circuit.calls[context.nextCall]!.qubits.length > 0) marks.push(gateMark(context.nextCall, [], context))
  return marks
}

function endOfCall(operations: readonly Operation[], from: number): number {
  const { call } = operations[from]!
  let end = from + 1
  while (operations[end]?.call === call && ['gate', 'barrier'].includes(operations[end]!.kind)) end++
  return end
}

function markOf(operation: Exclude<Operation, GateOperation>, context: Context): Mark {
  const { circuit, wires } = context
  const { call } = operation
  const title = (what: string) => `${what}${placeText(circuit.calls[call]!)}`
  switch (operation.kind) {
    case 'measure': {
      const { qubit, clbit } = operation
      const into = circuit.clbitNames[clbit] ?? `bit ${clbit}`
      return { kind: 'measure', call, qubit, clbit, title: title(`measure ${qubitName(circuit, qubit)} into ${into}`) }
    }
    case 'reset': {
      const { qubit } = operation
      return { kind: 'reset', call, qubit, title: title(`reset ${qubitName(circuit, qubit)}`) }
    }
    case 'barrier':
      return { kind: 'barrier', call, qubits: operation.qubits, title: title('barrier') }
    case 'if': {
      const condition = conditionText(operation.condition, wires, circuit.clbitNames)
      return {
        kind: 'if',
        call,
        label: `if ${condition}`,
        clbits: conditionBits(operation.condition),
        body: marksOfList(operation.then, context),
        otherwise: marksOfList(operation.otherwise, context),
        title: title(`if ${condition}`)
      }
    }
  }
}

function gateMark(call: number, gates: readonly GateOperation[], { circuit }: Context): GateMark {
  const written = circuit.calls[call]!
  const controls = written.qubits.slice(0, written.controls).map((qubit) => ({ qubit, value: actsAt(gates, qubit) }))
  const targets = written.qubits.slice(written.controls)
  const sign = signOf(gates, written)
  const angles = written.angles.map(angleText).join(', ')
  const name = nameOnTargets(written)
  // A phase of the whole state has no target of its own: under controls, the last of them has the box.
  if (targets.length === 0 && controls.length > 0) targets.push(controls.pop()!.qubit)
  const full = `${written.name}${written.angles.length > 0 ? `(${written.angles.map(exactAngleText).join(', ')})` : ''}`
  const on = written.qubits.map((qubit) => qubitName(circuit, qubit)).join(', ')
  return {
    kind: 'gate',
    call,
    sign,
    label: angles === '' ? name : `${name}(${angles})`,
    targets,
    controls,
    title: `${full}${on === '' ? '' : ` on ${on}`}${placeText(written)}`
  }
}

/** At which value of a control the gate acts: 0 where that is so of all its parts. */
const actsAt = (gates: readonly GateOperation[], qubit: number): 0 | 1 => {
  const values = gates.flatMap(({ controls }) => controls.filter((control) => control.qubit === qubit))
  return values.length > 0 && values.every(({ value }) => value === 0) ? 0 : 1
}

/** The usual sign, where the call is that one gate and nothing more; a gate of the program's own keeps its name. */
function signOf(gates: readonly GateOperation[], written: Call): GateMark['sign'] {
  const [gate, ...others] = gates
  if (!gate || others.length > 0 || gate.controls.length !== written.controls) return 'box'
  if (!isNamedAs(written.name, gate.name)) return 'box'
  if (gate.name === 'swap') return 'swap'
  return gate.controls.length > 0 && (gate.name === 'x' || gate.name === 'z') ? gate.name : 'box'
}

const namesOfX = /^(x|cnot|toffoli|mcx)$/i

const isNamedAs = (written: string, gate: string): boolean =>
  withoutControls(written).toLowerCase() === gate || (gate === 'x' && namesOfX.test(withoutControls(written)))

/** The name of what acts on the targets, since the controls are drawn: `rz` for `crz`. */
const nameOnTargets = ({ name, controls }: Call): string => (controls > 0 ? withoutControls(name) || name : name)

/** `ccx`, `c3x`, `ctrl(2) @ x` and `negctrl @ ctrl @ x` are an x with controls. */
function withoutControls(name: string): string {
  const plain = name.replace(/(?:neg)?ctrl\s*(?:\([^)]*\))?\s*@\s*/g, '')
  return /^(?:c+|c\d)(?=(?:x|y|z|h|p|u|u1|u3|s|sdg|sx|t|rx|ry|rz|phase|swap)$)/i.test(plain)
    ? plain.replace(/^(?:c+|c\d)/i, '')
    : plain
}

const qubitName = ({ qubitNames }: Circuit, qubit: number): string => qubitNames[qubit] ?? `qubit ${qubit}`

const placeText = ({ line }: Call): string => `, line ${line}`
