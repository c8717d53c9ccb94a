// Expressions of OpenQASM 3 that have a value before the program runs: numbers, pi, tau, euler, inputs, + - * / **,
// parentheses.

const constants: Record<string, number> = {
  pi: Math.PI,
  π: Math.PI,
  tau: 2 * Math.PI,
  τ: 2 * Math.PI,
  euler: Math.E,
  ℇ: Math.E
}

/**
 * Evaluates an expression.
 * @param inputs values that the program is given, by name.
 * @throws Error naming the part that cannot be read.
 */
export function evaluate(text: string, inputs: ReadonlyMap<string, number> = new Map()): number {
  const tokens = tokensOf(text)
  let at = 0
  const take = (...symbols: string[]): string | null => (symbols.includes(tokens[at] ?? '') ? tokens[at++]! : null)

  function sum(): number {
    let value = product()
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) value += sign === '+' ? product() : -product()
    return value
  }
  function product(): number {
    let value = signed()
    for (let sign = take('*', '/'); sign; sign = take('*', '/'))
      value = sign === '*' ? value * signed() : value / signed()
    return value
  }
  function signed(): number {
    const sign = take('+', '-')
    if (sign) return sign === '-' ? -signed() : signed()
    return power()
  }
  function power(): number {
    const base = atom()
    return take('**') ? base ** signed() : base
  }
  function atom(): number {
    const token = tokens[at++]
    if (token === '(') {
      const value = sum()
      if (!take(')')) throw new Error(`"${text}" lacks a )`)
      return value
    }
    const value = token === undefined ? Number.NaN : (constants[token] ?? inputs.get(token) ?? Number(token))
    if (Number.isNaN(value)) throw new Error(`"${text}" is not a constant expression`)
    return value
  }

  const value = sum()
  if (at < tokens.length || !Number.isFinite(value)) throw new Error(`"${text}" is not a constant expression`)
  return value
}

function tokensOf(text: string): string[] {
  const pattern = /\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\*\*|[-+*/()]|[\p{L}_][\p{L}\d_]*)\s*/uy
  const tokens: string[] = []
  while (pattern.lastIndex < text.length) {
    const [, token] = pattern.exec(text) ?? []
    if (token === undefined) throw new Error(`"${text}" is not a constant expression`)
    tokens.push(token)
  }
  return tokens
}
