// The names of an OpenQASM 3 program, block by block.
import type { Position } from '../../circuit/circuit.js'
import { builtInU } from '../gates/standard-gates.js'
import { fault } from './tokens.js'
import { decimal, isNumber, type Value } from './values.js'

export type ScopeKind = 'global' | 'local' | 'gate'

interface Scope {
  kind: ScopeKind
  values: Map<string, Value>
}

const builtIn: readonly [string, Value][] = [
  ['U', { type: 'gate', gate: { ...builtInU, isRenamed: false } }],
  ['pi', decimal(Math.PI)],
  ['π', decimal(Math.PI)],
  ['tau', decimal(2 * Math.PI)],
  ['τ', decimal(2 * Math.PI)],
  ['euler', decimal(Math.E)],
  ['ℇ', decimal(Math.E)]
]

export class Scopes {
  readonly #stack: Scope[] = [{ kind: 'global', values: new Map(builtIn) }]

  get #isInGate(): boolean {
    return this.#stack.some(({ kind }) => kind === 'gate')
  }

  get kind(): ScopeKind {
    return this.#stack.at(-1)!.kind
  }

  /** What a name stands for here; null for a name that nothing has. */
  get(name: string, position: Position): Value | null {
    if (this.#isInGate && /^\$\d+$/.test(name)) {
      const message = `Illegal qubit reference '${name}'. References to hardware qubits not allowed in gate definitions.`
      throw fault(message, position)
    }
    for (const scope of this.#stack.toReversed()) {
      const value = scope.values.get(name)
      if (value === undefined) continue
      const isVisible = value.type === 'gate' || (isNumber(value) && value.constant !== null)
      if (scope.kind === 'global' && this.#isInGate && !isVisible) {
        throw fault(`Symbol ${name} is not visible in the scope of a gate`, position)
      }
      return value
    }
    return null
  }

  /** Adds a name to the innermost block, or to the whole program. */
  add(name: string, value: Value, position: Position, isGlobal = false): void {
    const { values } = isGlobal ? this.#stack[0]! : this.#stack.at(-1)!
    if (values.has(name)) throw fault(`Symbol '${name}' already inserted in symbol table in this scope`, position)
    values.set(name, value)
  }

  within<T>(kind: ScopeKind, read: () => T): T {
    this.#stack.push({ kind, values: new Map() })
    const found = read()
    this.#stack.pop()
    return found
  }
}
