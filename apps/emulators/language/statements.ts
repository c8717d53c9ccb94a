// Splits an OpenQASM 3 program into statements without blocks.
import { ProgramError } from './program.js'

export interface Statement {
  text: string
  line: number
}

/** @throws ProgramError for a block, and for an end without a semicolon. */
export function statementsOf(source: string): Statement[] {
  const statements: Statement[] = []
  const parts = withoutComments(source).split(';')
  let line = 1
  for (const [index, part] of parts.entries()) {
    const leading = /^\s*/.exec(part)![0]
    const text = part.trim().replace(/\s+/g, ' ')
    const at = line + leading.split('\n').length - 1
    line += part.split('\n').length - 1
    if (text === '') continue
    if (/[{}]/.test(text)) throw new ProgramError(at, 'this emulator does not read blocks')
    if (index === parts.length - 1) throw new ProgramError(at, `"${text.slice(0, 60)}" does not end with ;`)
    statements.push({ text, line: at })
  }
  return statements
}

/** The same lines, with spaces in the place of comments. */
export const withoutComments = (source: string): string =>
  source.replace(/\/\/[^\n]*/g, blank).replace(/\/\*[\s\S]*?\*\//g, blank)

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

/** Splits at the commas outside of parentheses. */
export function splitArguments(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
