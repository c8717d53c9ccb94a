// What the names of an OpenQASM 2 program stand for, and which of them are known without a definition.
import type { Position } from '../../circuit/circuit.js'
import { builtInCX, builtInU, exporterGates, qelib1, type StandardGate } from '../gates/standard-gates.js'
import { fault } from './tokens.js'

/** `make` is null for a gate that is declared `opaque`. */
export type KnownGate = Omit<StandardGate, 'make'> & { make: StandardGate['make'] | null }

export type Symbol2 =
  | { kind: 'qreg'; bits: readonly number[] }
  | { kind: 'creg'; bits: readonly number[] }
  | { kind: 'gate'; gate: KnownGate }
  | { kind: 'function' }

export const descriptions: Record<Symbol2['kind'], string> = {
  qreg: 'a quantum register',
  creg: 'a classical register',
  gate: 'a gate',
  function: 'a custom classical function'
}

export class Symbols {
  readonly #symbols = new Map<string, Symbol2>()
  /** Gates of "qelib1.inc" that become known by its include, and `delay`, which never does. */
  readonly #waiting: Set<string>

  /** @param defined the names of the gates that the program defines itself. */
  constructor(defined: ReadonlySet<string>) {
    this.#symbols.set('U', { kind: 'gate', gate: builtInU })
    this.#symbols.set('CX', { kind: 'gate', gate: builtInCX })
    for (const [name, gate] of exporterGates) {
      if (!defined.has(name)) this.#symbols.set(name, { kind: 'gate', gate })
    }
    for (const name of ['acos', 'asin', 'atan']) this.#symbols.set(name, { kind: 'function' })
    this.#waiting = new Set([...qelib1.keys(), 'delay'].filter((name) => !defined.has(name)))
  }

  get(name: string): Symbol2 | undefined {
    return this.#symbols.get(name)
  }

  define(name: string, symbol: Symbol2, position: Position): void {
    if (this.#symbols.has(name)) throw fault(`'${name}' is already defined`, position)
    this.#symbols.set(name, symbol)
  }

  include(position: Position): void {
    for (const [name, gate] of qelib1) {
      this.define(name, { kind: 'gate', gate }, position)
      this.#waiting.delete(name)
    }
  }

  gate(name: string, position: Position): KnownGate {
    const symbol = this.#symbols.get(name)
    if (symbol?.kind === 'gate') return symbol.gate
    if (symbol) throw fault(`'${name}' is ${descriptions[symbol.kind]}, not a gate`, position)
    if (this.#waiting.has(name)) {
      throw fault(`cannot use non-builtin custom instruction '${name}' before definition`, position)
    }
    throw fault(`'${name}' is not defined in this scope`, position)
  }
}
