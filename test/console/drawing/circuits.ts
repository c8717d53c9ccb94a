// Circuits as the reader of OpenQASM makes them, a statement of the program for each line.
import type {
  Call,
  Circuit,
  Condition,
  Control,
  GateName,
  GateOperation,
  Operation
} from '../../../apps/console/circuit/circuit.js'

interface Shape {
  qubits: number
  clbits?: number
  qubitNames?: string[]
  clbitNames?: string[]
}

/** @param write adds the statements in order. */
export function circuitOf(shape: Shape, write: (program: Writer) => void = () => {}): Circuit {
  const { qubits, clbits = 0 } = shape
  const writer = new Writer()
  write(writer)
  return {
    language: 'openqasm3',
    qubits,
    clbits,
    qubitNames: shape.qubitNames ?? Array.from({ length: qubits }, (_, at) => `q[${at}]`),
    clbitNames: shape.clbitNames ?? Array.from({ length: clbits }, (_, at) => `c[${at}]`),
    operations: writer.operations,
    calls: writer.calls,
    outcome: [],
    measuresImplicitly: false
  }
}

export class Writer {
  operations: Operation[] = []
  readonly calls: Call[] = []

  /** A gate of the closed set, as the program calls it. */
  gate(
    name: string,
    gate: GateName,
    qubits: number[],
    { controls = 0, angles = [] as number[], values = [] as (0 | 1)[] } = {}
  ): this {
    const given: Control[] = qubits.slice(0, controls).map((qubit, at) => ({ qubit, value: values[at] ?? 1 }))
    return this.own(name, qubits, [{ name: gate, angles, controls: given, targets: qubits.slice(controls) }], {
      controls,
      angles
    })
  }

  /** A gate that the reader has reduced to several. */
  own(
    name: string,
    qubits: number[],
    parts: Omit<GateOperation, 'kind' | 'call'>[],
    { controls = 0, angles = [] as number[] } = {}
  ): this {
    const call = this.#call(name, qubits, controls, angles)
    this.operations.push(...parts.map((part) => ({ kind: 'gate' as const, ...part, call })))
    return this
  }

  h = (qubit: number): this => this.gate('h', 'h', [qubit])
  cx = (control: number, target: number): this => this.gate('cx', 'x', [control, target], { controls: 1 })

  measure(qubit: number, clbit: number): this {
    this.operations.push({ kind: 'measure', qubit, clbit, call: this.#call('measure', [qubit]) })
    return this
  }

  reset(qubit: number): this {
    this.operations.push({ kind: 'reset', qubit, call: this.#call('reset', [qubit]) })
    return this
  }

  barrier(...qubits: number[]): this {
    this.operations.push({ kind: 'barrier', qubits, call: this.#call('barrier', qubits) })
    return this
  }

  branch(condition: Condition, then: () => void, otherwise: () => void = () => {}): this {
    const call = this.#call('if', [])
    const around = this.operations
    const [held, failed] = [then, otherwise].map((write) => {
      this.operations = []
      write()
      return this.operations
    })
    this.operations = around
    // biome-ignore lint/suspicious/noThenProperty: a body is an array, which nothing awaits
    this.operations.push({ kind: 'if', condition, then: held!, otherwise: failed!, call })
    return this
  }

  #call(name: string, qubits: number[], controls = 0, angles: number[] = []): number {
    this.calls.push({ name, angles, qubits, controls, line: this.calls.length + 3, column: 1 })
    return this.calls.length - 1
  }
}

export const isOne = (clbit: number): Condition => ({
  kind: 'compare',
  left: { clbits: [clbit] },
  operator: '==',
  right: { constant: 1 }
})

export const registerIs = (clbits: number[], constant: number): Condition => ({
  kind: 'compare',
  left: { clbits },
  operator: '==',
  right: { constant }
})

export const bell = circuitOf({ qubits: 2, clbits: 2 }, (program) => program.h(0).cx(0, 1).measure(0, 0).measure(1, 1))

/** Of the quantum Fourier transform on 5 qubits. */
export const qft = circuitOf({ qubits: 5, clbits: 5 }, (program) => {
  for (let target = 0; target < 5; target++) {
    program.h(target)
    for (let control = target + 1; control < 5; control++)
      program.gate('cp', 'p', [control, target], { controls: 1, angles: [Math.PI / 2 ** (control - target)] })
  }
  program.gate('swap', 'swap', [0, 4]).gate('swap', 'swap', [1, 3]).barrier(0, 1, 2, 3, 4)
  for (let qubit = 0; qubit < 5; qubit++) program.measure(qubit, qubit)
})

export const teleportation = circuitOf({ qubits: 3, clbits: 3, clbitNames: ['m[0]', 'm[1]', 'out'] }, (program) => {
  program
    .gate('u', 'u', [0], { angles: [0.3, 0.2, 0.1] })
    .h(1)
    .cx(1, 2)
    .cx(0, 1)
    .h(0)
    .measure(0, 0)
    .measure(1, 1)
  program.branch(isOne(1), () => program.gate('x', 'x', [2]))
  program.branch(
    registerIs([0, 1], 3),
    () => program.gate('z', 'z', [2]),
    () => program.gate('id', 'id', [2])
  )
  program.measure(2, 2)
})

export const nested = circuitOf({ qubits: 3, clbits: 2 }, (program) => {
  program.measure(0, 0)
  program.branch(isOne(0), () => {
    program.h(1)
    program.branch(
      { kind: 'not', of: isOne(1) },
      () => program.cx(1, 2),
      () => program.reset(2)
    )
  })
  program.branch(isOne(0), () => {})
  program.h(1)
})

export const signs = circuitOf({ qubits: 4 }, (program) => {
  program
    .gate('ccx', 'x', [0, 1, 3], { controls: 2 })
    .gate('negctrl @ x', 'x', [2, 0], { controls: 1, values: [0] })
    .gate('cz', 'z', [0, 2], { controls: 1 })
    .gate('cswap', 'swap', [1, 0, 3], { controls: 1 })
    .gate('crz', 'rz', [0, 3], { controls: 1, angles: [-Math.PI / 4] })
    .gate('gphase', 'gphase', [], { angles: [Math.PI] })
    .gate('ctrl @ gphase', 'gphase', [2], { controls: 1, angles: [Math.PI / 2] })
    .own(
      'rzz',
      [0, 2],
      [
        { name: 'x', angles: [], controls: [{ qubit: 0, value: 1 }], targets: [2] },
        { name: 'rz', angles: [0.5], controls: [], targets: [2] },
        { name: 'x', angles: [], controls: [{ qubit: 0, value: 1 }], targets: [2] }
      ],
      { angles: [0.5] }
    )
    .own('entangle', [0, 1], [{ name: 'x', angles: [], controls: [{ qubit: 0, value: 1 }], targets: [1] }])
    .barrier(0, 3)
})

export const hostile = circuitOf(
  {
    qubits: 3,
    clbits: 2,
    qubitNames: ['\u202edlrow', `<script>alert(1)</script>[0]`, 'q'.repeat(100_000)],
    clbitNames: [`"onload="alert(1)[0]`, `e${'\u0301'.repeat(100)}`]
  },
  (program) => {
    program.own('</text><script>alert(1)</script>', [0, 1], [{ name: 'h', angles: [], controls: [], targets: [0] }])
    program.own(`\u2067${'g'.repeat(100_000)}`, [2], [{ name: 'h', angles: [], controls: [], targets: [2] }])
    program.measure(1, 0)
    program.branch(isOne(0), () => program.h(1))
  }
)

export const long = circuitOf({ qubits: 5, clbits: 1 }, (program) => {
  for (let gate = 0; gate < 20_000; gate++) program.cx(gate % 5, (gate + 1) % 5)
  program.measure(0, 0)
})

export const empty = circuitOf({ qubits: 1 })
