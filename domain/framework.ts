// The frameworks that a program may be written in, and which one a text is in.
export const frameworks = ['qiskit', 'cirq', 'pennylane', 'openqasm', 'marqov'] as const
export type Framework = (typeof frameworks)[number]

export interface Detection {
  /** `null` when the code names none, or several. */
  framework: Framework | null
  /** What it imports, each once; empty for OpenQASM. */
  imported: Framework[]
}

/** By the OPENQASM header (after comments) or by the imports; each pattern is linear in the code. */
export function detectFramework(code: string): Detection {
  if (/^OPENQASM\b/.test(withoutLeadingComments(code))) return { framework: 'openqasm', imported: [] }
  const imports = code.matchAll(/^[ \t]*(?:from|import)[ \t]+(qiskit|cirq|pennylane|marqov|braket)\b/gm)
  const named = [...imports].map((match) => (match[1] === 'braket' ? 'marqov' : match[1]) as Framework)
  const imported = [...new Set(named)]
  return { framework: imported.length === 1 ? imported[0]! : null, imported }
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
