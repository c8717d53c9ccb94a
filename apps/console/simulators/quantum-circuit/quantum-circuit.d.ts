// The part of the package `quantum-circuit` that is used; it has no types of its own.
declare module 'quantum-circuit' {
  export default class QuantumCircuit {
    constructor(qubits: number)
    state: Record<string, { re: number; im: number }>
    addGate(
      name: string,
      column: number,
      wires: number | number[],
      options?: { params?: Record<string, string> }
    ): string
    run(initialValues: null, options: { onColumn: (column: number) => void }): void
  }
}
