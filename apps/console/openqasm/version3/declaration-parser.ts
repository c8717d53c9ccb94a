// Parses the declarations of OpenQASM 3.
import { at, ExpressionParser } from './expression-parser.js'
import type { Expression, Statement } from './syntax.js'
import { fault } from './tokens.js'

export class DeclarationParser extends ExpressionParser {
  /** `global` outside every block, `gate` inside of a definition. */
  protected scope: 'global' | 'block' | 'gate' = 'global'

  protected include(): Statement {
    const position = at(this.next())
    if (this.scope !== 'global') throw fault("'include' statements must be global", position)
    const file = this.next().text.slice(1, -1)
    this.expect(';')
    return { kind: 'include', file, ...position }
  }

  protected qubits(): Statement {
    const word = this.next()
    if (this.scope !== 'global') throw fault('qubit declarations must be global', word)
    let size = word.text === 'qubit' && this.is('[') ? this.designator() : undefined
    const name = this.name().text
    if (word.text === 'qreg' && this.is('[')) size = this.#positiveSize('qreg')
    this.expect(';')
    return { kind: 'qubits', name, ...(size && { size }), ...at(word) }
  }

  protected oldBits(): Statement {
    const position = at(this.next())
    const name = this.name().text
    const size = this.is('[') ? this.#positiveSize('creg') : undefined
    this.expect(';')
    return {
      kind: 'declaration',
      type: { name: 'bit', ...(size && { size }) },
      name,
      isInitialised: false,
      ...position
    }
  }

  #positiveSize(word: string): Expression {
    const size = this.designator()
    const positive = !(size.kind === 'unary' || (size.kind === 'integer' && size.value === 0n))
    if (!positive) throw fault(`${word} size must be positive`, size)
    return size
  }

  protected declaration(): Statement | null {
    if (!this.startsDeclaration()) return null
    const position = at(this.token)
    this.notInGate('cannot declare classical variables in a gate')
    const type = this.type()
    const name = this.name().text
    if (!this.accept('=')) {
      this.expect(';')
      return { kind: 'declaration', type, name, isInitialised: false, ...position }
    }
    if (this.accept('measure')) {
      const measured = this.operand()
      this.expect(';')
      return { kind: 'declaration', type, name, measured, isInitialised: true, ...position }
    }
    this.#initialValue()
    this.expect(';')
    return { kind: 'declaration', type, name, isInitialised: true, ...position }
  }

  #initialValue(): Expression {
    if (this.is('{')) {
      const position = at(this.token)
      this.#arrayLiteral()
      return { kind: 'valueless', what: 'ArrayLiteral', ...position }
    }
    return this.#concatenation()
  }

  #arrayLiteral(): void {
    this.expect('{')
    if (!this.is('}')) this.list(() => (this.is('{') ? this.#arrayLiteral() : this.expression()), '}')
    this.expect('}')
  }

  #concatenation(): Expression {
    let left = this.expression()
    while (this.accept('++')) left = { kind: 'concatenation', left, right: this.expression(), ...at(left) }
    return left
  }

  protected constant(): Statement {
    const position = at(this.next())
    const type = this.type()
    const name = this.name().text
    this.expect('=')
    const measured = this.is('measure') ? at(this.next()) : null
    const value: Expression = measured
      ? { kind: 'valueless', what: 'QuantumMeasurement', ...measured }
      : this.#initialValue()
    if (measured) this.operand()
    this.expect(';')
    return { kind: 'constant', type, name, value, ...position }
  }

  protected io(): Statement {
    const word = this.next()
    if (this.scope !== 'global') throw fault(`'${word.text}' declarations must be global`, word)
    const type = this.type()
    const name = this.name().text
    this.expect(';')
    return { kind: 'input', isOutput: word.text === 'output', type, name, ...at(word) }
  }

  protected alias(): Statement {
    const position = at(this.next())
    const name = this.name().text
    this.expect('=')
    const value = this.#concatenation()
    this.expect(';')
    return { kind: 'alias', name, value, ...position }
  }

  protected notInGate(message: string): void {
    if (this.scope === 'gate') throw fault(message, this.token)
  }
}
