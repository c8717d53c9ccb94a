// Quantum mechanics with full matrices, as a reference for the emulators' simulator: slow, but simple enough to check by
// reading. Qubit 0 is the leftmost factor and the leftmost digit of a row's number.
export type C = readonly [number, number]
export type Dense = readonly (readonly C[])[]

export const times = ([a, b]: C, [c, d]: C): C => [a * c - b * d, a * d + b * c]
const plus = ([a, b]: C, [c, d]: C): C => [a + c, b + d]
export const polar = (length: number, angle: number): C => [length * Math.cos(angle), length * Math.sin(angle)]

export const multiply = (a: Dense, b: Dense): Dense =>
  a.map((row) =>
    b[0]!.map((_, column) => row.reduce<C>((sum, one, k) => plus(sum, times(one, b[k]![column]!)), [0, 0]))
  )

export const scaled = (factor: C, a: Dense): Dense => a.map((row) => row.map((one) => times(factor, one)))
export const added = (a: Dense, b: Dense): Dense => a.map((row, i) => row.map((one, j) => plus(one, b[i]![j]!)))
export const tensor = (a: Dense, b: Dense): Dense =>
  a.flatMap((rowA) => b.map((rowB) => rowA.flatMap((one) => rowB.map((other) => times(one, other)))))

const r = (...rows: number[][]): Dense => rows.map((row) => row.map((real) => [real, 0] as const))
export const I = r([1, 0], [0, 1])
export const X = r([0, 1], [1, 0])
export const Y: Dense = [
  [
    [0, 0],
    [0, -1]
  ],
  [
    [0, 1],
    [0, 0]
  ]
]
export const Z = r([1, 0], [0, -1])
export const H = scaled([Math.SQRT1_2, 0], r([1, 1], [1, -1]))
export const SWAP = r([1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1])
export const diag = (...entries: C[]): Dense => entries.map((one, i) => entries.map((_, j) => (i === j ? one : [0, 0])))
export const identity = (size: number): Dense => diag(...Array.from({ length: size }, (): C => [1, 0]))
export const paulis = { I, X, Y, Z }

/** exp(-i angle P) for a P that is its own inverse. */
export const exponential = (angle: number, p: Dense): Dense =>
  added(scaled([Math.cos(angle), 0], identity(p.length)), scaled([0, -Math.sin(angle)], p))

/** The gate, applied where `count` qubits before its own are all one. */
export function controlled(count: number, gate: Dense): Dense {
  const size = gate.length * 2 ** count
  const from = size - gate.length
  return identity(size).map((row, i) =>
    row.map((one, j) => (i >= from && j >= from ? gate[i - from]![j - from]! : one))
  )
}

/** The state after gates on n qubits that start as zero; `on` lists a gate's qubits, its leftmost factor first. */
export function evolve(qubits: number, gates: readonly { gate: Dense; on: readonly number[] }[]): C[] {
  const size = 2 ** qubits
  const digit = (index: number, qubit: number) => (index >> (qubits - 1 - qubit)) & 1
  let state: C[] = Array.from({ length: size }, (_, index): C => [index === 0 ? 1 : 0, 0])
  for (const { gate, on } of gates) {
    const rowOf = (index: number) => on.reduce((row, qubit) => row * 2 + digit(index, qubit), 0)
    const others = (index: number) =>
      Array.from({ length: qubits }, (_, qubit) => (on.includes(qubit) ? '-' : digit(index, qubit))).join('')
    state = state.map((_, to) =>
      state.reduce<C>(
        (sum, amplitude, from) =>
          others(from) === others(to) ? plus(sum, times(gate[rowOf(to)]![rowOf(from)]!, amplitude)) : sum,
        [0, 0]
      )
    )
  }
  return state
}

/** Probabilities by outcome in IonQ's numbering: qubit k is bit k. */
export function probabilities(state: readonly C[], qubits: number): Map<number, number> {
  const found = new Map<number, number>()
  state.forEach(([re, im], index) => {
    const bits = index.toString(2).padStart(qubits, '0')
    const outcome = [...bits].reduce((sum, bit, qubit) => sum + Number(bit) * 2 ** qubit, 0)
    found.set(outcome, re * re + im * im)
  })
  return found
}
