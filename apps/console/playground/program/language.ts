// Which language a program is written in: it decides between the reader of OpenQASM and the server, and how the text is coloured.

/** A framework as the API names it; `auto` goes by the text. */
export type Language = string

const importLine = /^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)/gm

export function isPython(program: string, language: Language): boolean {
  if (language !== 'auto') return language !== 'openqasm'
  if (/^\s*OPENQASM\b/.test(program)) return false
  return program.search(importLine) >= 0
}

/**
 * The framework of a Python program, for a request that has to name it; `null` where its imports name none.
 * @param frameworks that the service knows.
 */
export function frameworkOf(program: string, language: Language, frameworks: readonly string[]): string | null {
  if (language !== 'auto') return language
  const imported = [...program.matchAll(importLine)].map(([, name]) => name!)
  return imported.find((name) => frameworks.includes(name)) ?? null
}
