// The frameworks that a program may be written in, and which one a text is in.
export const frameworks = ['qiskit', 'cirq', 'pennylane', 'openqasm', 'marqov'] as const
export type Framework = (typeof frameworks)[number]

/**
 * Which framework a text is in, as far as a glance can tell: by the OPENQASM header (after comments), or by the one
 * framework that it imports. `auto` leaves it to the execution service, which reads the program; `null` is a text that
 * names none at all. Each pattern is linear in the code.
 */
export function detectFramework(code: string): Framework | 'auto' | null {
  if (/^OPENQASM\b/.test(withoutLeadingComments(code))) return 'openqasm'
  const imports = code.matchAll(/^[ \t]*(?:from|import)[ \t]+(qiskit|cirq|pennylane|marqov|braket)\b/gm)
  const [first, ...others] = new Set([...imports].map((match) => (match[1] === 'braket' ? 'marqov' : match[1])))
  if (first && others.length === 0) return first as Framework
  return /\b(?:qiskit|cirq|pennylane|marqov|braket)\b/.test(code) ? 'auto' : null
}

function withoutLeadingComments(code: string): string {
  let rest = code.trimStart()
  while (rest.startsWith('//') || rest.startsWith('/*')) {
    const closing = rest.startsWith('//') ? '\n' : '*/'
    const end = rest.indexOf(closing, 2)
    if (end < 0) return ''
    rest = rest.slice(end + closing.length).trimStart()
  }
  return rest
}
