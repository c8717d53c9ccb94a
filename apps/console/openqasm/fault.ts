import type { Position } from '../circuit/circuit.js'

/** Stops the reading of a program. `readCircuit` returns it as a fault. */
export class ProgramFault extends Error {
  readonly position: Position

  constructor(message: string, { line, column }: Position) {
    super(message)
    this.position = { line, column }
  }
}
