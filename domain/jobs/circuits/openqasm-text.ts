// What the text of an OpenQASM source shows without parsing it. The text is a tenant's: everything here takes time linear in
// its length.

/**
 * `qubit[2] q;`, `qubit q;` and `qreg q[2];`, with a number, a name or an expression as the size. Repetitions are bounded, so
 * that no part of the text is read again and again; longer ones are left to the executor.
 */
const declarations =
  /\bqubit(?:\s{0,9}\[([^\][;]{0,99})\]\s{0,9}|\s{1,9})[A-Za-z_]\w{0,199}\s{0,9};|\bqreg\s{1,9}[A-Za-z_]\w{0,199}\s{0,9}(?:\[([^\][;]{0,99})\]\s{0,9})?;/g

/** The sizes of the declared registers of qubits, as they are written; a single qubit is `1`. */
export const declaredSizes = (text: string): string[] =>
  [...withoutComments(text).matchAll(declarations)].map(([, modern, old]) => (modern ?? old ?? '1').trim())

/** OpenQASM 3 needs no version line, so a declaration of qubits is what it is known by. */
export const declaresQubits = (text: string): boolean => declaredSizes(text).length > 0

/** The text from its first character that is neither white space nor in a comment. */
export function withoutLeadingComments(code: string): string {
  let rest = code.trimStart()
  while (rest.startsWith('//') || rest.startsWith('/*')) {
    const closing = rest.startsWith('//') ? '\n' : '*/'
    const end = rest.indexOf(closing, 2)
    if (end < 0) return ''
    rest = rest.slice(end + closing.length).trimStart()
  }
  return rest
}

function withoutComments(text: string): string {
  const opening = /\/[/*]/g
  const kept: string[] = []
  let from = 0
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    kept.push(text.slice(from, found.index))
    const closing = found[0] === '//' ? '\n' : '*/'
    const end = text.indexOf(closing, found.index + 2)
    if (end < 0) return kept.join(' ')
    from = end + closing.length
    opening.lastIndex = from
  }
  return [...kept, text.slice(from)].join(' ')
}
