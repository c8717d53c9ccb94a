// What the conformance table and the server say about programs: written by apps/executor/scripts/console-fixtures.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface ServerRegister {
  name: string
  size: number
  qubits?: number[]
}

export interface Meaning {
  registers: ServerRegister[]
  probabilities: Record<string, number>
}

export interface TableRow extends Meaning {
  name: string
  openqasm2?: string
  openqasm3: string
  converted: string
}

export type TextRow = { name: string; text: string } & (Meaning | { refusal: string })

/** A program with what the server makes of it. */
export type JudgedProgram = { text: string } & (Meaning | { refused: string; line: number | null })

export const conformance = read<TableRow>('conformance.json')
export const texts = read<TextRow>('texts.json')
export const programs = read<JudgedProgram>('programs.json')
export const changedPrograms = read<JudgedProgram>('changed-programs.json')

function read<T>(name: string): T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures', name), 'utf8')) as T[]
}
