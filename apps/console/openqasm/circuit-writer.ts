// Collects what a program declares and does, and finishes it as a circuit whose outcome has the server's registers.
import type {
  Call,
  Circuit,
  Condition,
  MeasureOperation,
  Operation,
  OutcomeRegister,
  Position
} from '../circuit/circuit.js'
import { ProgramFault } from './fault.js'
import type { Part } from './gates/part.js'
import { CLBITS_MAX, COUNTED_BITS_MAX, OPERATIONS_MAX, READ_QUBITS_MAX, STEPS_MAX } from './limits.js'

export class CircuitWriter {
  readonly qubitNames: string[] = []
  readonly #clbitNames: string[] = []
  readonly #registers: OutcomeRegister[] = []
  readonly #registerNames = new Set<string>()
  readonly #calls: Call[] = []
  #operations: Operation[] = []
  #emitted = 0
  #steps = 0
  readonly #written = new Set<number>()

  /** One step of the reader; stops a program that is longer than the reader's patience. */
  step(position: Position, steps = 1): void {
    this.#steps += steps
    if (this.#steps > STEPS_MAX) throw tooLong(position)
  }

  /** Adds qubits; the names follow one another. */
  addQubits(names: readonly string[], position: Position): number[] {
    const first = this.qubitNames.length
    if (first + names.length > READ_QUBITS_MAX) {
      throw new ProgramFault(
        `circuit needs ${first + names.length} qubits, at most ${READ_QUBITS_MAX} are read`,
        position
      )
    }
    this.qubitNames.push(...names)
    return names.map((_, place) => first + place)
  }

  addClbits(names: readonly string[], position: Position): number[] {
    const first = this.#clbitNames.length
    if (first + names.length > CLBITS_MAX) {
      const declared = first + names.length
      throw new ProgramFault(
        `circuit declares ${declared} classical bits, at most ${CLBITS_MAX} are possible`,
        position
      )
    }
    this.#clbitNames.push(...names)
    return names.map((_, place) => first + place)
  }

  /** Takes a name for a quantum register. */
  nameRegister(name: string, position: Position): void {
    if (this.#registerNames.has(name)) throw new ProgramFault(`register name "${name}" already exists`, position)
    this.#registerNames.add(name)
  }

  /** A classical register, or another name for bits of such. */
  addRegister(name: string, clbits: readonly number[], position: Position): void {
    this.nameRegister(name, position)
    this.#registers.push({ name, clbits })
  }

  addCall(call: Call): number {
    this.#calls.push(call)
    return this.#calls.length - 1
  }

  gate(parts: readonly Part[], call: number): void {
    for (const one of parts) {
      for (const angle of one.angles) {
        if (!Number.isFinite(angle))
          throw new ProgramFault(`an angle of '${this.#calls[call]!.name}' is not finite`, this.#calls[call]!)
      }
      this.#emit({ kind: 'gate', ...one, call })
    }
  }

  measure(qubit: number, clbit: number, call: number): void {
    this.#written.add(clbit)
    this.#emit({ kind: 'measure', qubit, clbit, call })
  }

  reset(qubit: number, call: number): void {
    this.#emit({ kind: 'reset', qubit, call })
  }

  barrier(qubits: readonly number[], call: number): void {
    this.#emit({ kind: 'barrier', qubits, call })
  }

  /** What `then` and `otherwise` write happens under the condition, or under its opposite. */
  branch(condition: Condition, number: number, then: () => void, otherwise: () => void = () => {}): void {
    const around = this.#operations
    this.#operations = []
    then()
    const held = this.#operations
    this.#operations = []
    otherwise()
    const failed = this.#operations
    this.#operations = around
    const call = this.#calls[number]!
    this.#calls[number] = { ...call, qubits: qubitsOf([...held, ...failed]) }
    // biome-ignore lint/suspicious/noThenProperty: a circuit is data, which nothing awaits.
    this.#emit({ kind: 'if', condition, then: held, otherwise: failed, call: number })
  }

  finish(language: Circuit['language'], end: Position): Circuit {
    const qubits = this.qubitNames.length
    if (qubits === 0) throw new ProgramFault('the circuit has no qubits', { line: 1, column: 1 })
    const measuresImplicitly = this.#written.size === 0
    if (measuresImplicitly) this.#measureAll(end)
    const outcome = outcomeOf(this.#registers, this.#written)
    const shown = outcome.reduce((sum, { clbits }) => sum + clbits.length, 0)
    if (shown > COUNTED_BITS_MAX) {
      const many = `the registers that the circuit measures into have ${shown} classical bits, at most`
      throw new ProgramFault(`${many} ${COUNTED_BITS_MAX} can be counted; declare as many as you measure`, end)
    }
    return {
      language,
      qubits,
      qubitNames: this.qubitNames,
      clbits: this.#clbitNames.length,
      clbitNames: this.#clbitNames,
      operations: this.#operations,
      calls: this.#calls,
      outcome,
      measuresImplicitly
    }
  }

  #measureAll(end: Position): void {
    let name = 'meas'
    while (this.#registerNames.has(name)) name += '_'
    const first = this.#clbitNames.length
    const clbits = this.qubitNames.map((_, qubit) => first + qubit)
    this.#clbitNames.push(...clbits.map((_, qubit) => `${name}[${qubit}]`))
    this.#registers.push({ name, clbits })
    for (const [qubit, clbit] of clbits.entries()) {
      const call = this.addCall({ name: 'measure', angles: [], qubits: [qubit], controls: 0, ...end })
      const measure: MeasureOperation = { kind: 'measure', qubit, clbit, call }
      this.#operations.push(measure)
      this.#written.add(clbit)
    }
  }

  #emit(operation: Operation): void {
    const call = this.#calls[operation.call]!
    this.step(call)
    this.#emitted++
    if (this.#emitted > OPERATIONS_MAX) throw tooLong(call)
    this.#operations.push(operation)
  }
}

export function tooLong(position: Position): ProgramFault {
  return new ProgramFault(
    `the circuit expands to more than ${OPERATIONS_MAX} operations once its gate definitions and loops are written out`,
    position
  )
}

/**
 * The registers that a count's key shows: every one with a bit that is written somewhere, with all its bits, in the
 * order of declaration. A bit of several registers, which another name for it makes, belongs to the first.
 */
function outcomeOf(registers: readonly OutcomeRegister[], written: ReadonlySet<number>): OutcomeRegister[] {
  const owned = new Set<number>()
  const outcome: OutcomeRegister[] = []
  for (const { name, clbits } of registers) {
    const own = clbits.filter((clbit) => !owned.has(clbit))
    for (const clbit of own) owned.add(clbit)
    if (own.some((clbit) => written.has(clbit))) outcome.push({ name, clbits: own })
  }
  return outcome
}

/** The qubits that operations touch, ascending. */
function qubitsOf(operations: readonly Operation[]): number[] {
  const found = new Set<number>()
  const note = (operation: Operation): void => {
    if (operation.kind === 'gate') for (const { qubit } of operation.controls) found.add(qubit)
    if (operation.kind === 'gate') for (const qubit of operation.targets) found.add(qubit)
    if (operation.kind === 'measure' || operation.kind === 'reset') found.add(operation.qubit)
    if (operation.kind === 'if') for (const inner of [...operation.then, ...operation.otherwise]) note(inner)
  }
  for (const operation of operations) note(operation)
  return [...found].sort((a, b) => a - b)
}
